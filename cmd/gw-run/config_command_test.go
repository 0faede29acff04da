package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
)

func TestConfigCheckSaysThatThereIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "tasks"), 0o755),
		os.WriteFile(filepath.Join(dir, "tasks", "a"), []byte("#!/bin/sh\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	code, stdout, _ := command(t, nil, "config", "check", "--tasks", filepath.Join(dir, "tasks"))
	if want := "There is no " + filepath.Join(dir, "gw.yaml") + "; without it a worker has: 1 task, 0 recurring jobs.\n"; code != cli.ExitOK || !strings.HasSuffix(stdout, want) {
		t.Errorf("exit code %d, stdout\n%s, want\n%s", code, stdout, want)
	}
	if code, _, stderr := command(t, nil, "config", "check", "--config", filepath.Join(dir, "own.yaml")); code == cli.ExitOK || !strings.Contains(stderr, "own.yaml") {
		t.Errorf("exit code %d, stderr\n%s", code, stderr)
	}
}

// tasksBeside creates a folder of tasks with a config file beside it, and returns the path of the file.
func tasksBeside(t *testing.T, text string, tasks ...string) (path string) {
	t.Helper()
	dir := t.TempDir()
	path = filepath.Join(dir, "gw.yaml")
	if err := os.Mkdir(filepath.Join(dir, "tasks"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range tasks {
		if err := os.WriteFile(filepath.Join(dir, "tasks", name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestConfigCheckShowsHowTasksAreServed(t *testing.T) {
	path := tasksBeside(t, `
jobs: 4
tasks:
  a: {timeout: 5s, forbidden_flags: [big]}
  b: {persistent: [sh, -c, exit]}
  d: {sql: app.d}
  c: {http: "https://u:${SECRET}@example.com/{task}?key=${SECRET}"}
  f: {persistent: sh, forbidden_flags: {query: nobody asks this}}
  g: {exec: [sh, --token, "${SECRET}", "-${SECRET}-", "$${SECRET}"], env: {TOKEN: "${SECRET}"}}
  h: {exec: "${SHELL}"}
  i: {http: "https://u:p@example.com:80/${SECRET}/{task}", headers: {Authorization: "${SECRET}"}, secret: "${SIGNING}"}
  j: {http: "${SERVER}/{task}"}
  k: {sql: "app.${SECRET}"}
`, "a", "b", "e.sh")
	dir := filepath.Dir(path)
	env := map[string]string{
		"SECRET": "s3cret", "SHELL": "sh", "SERVER": "http://s3cret", "SIGNING": "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIz",
	}
	code, stdout, stderr := command(t, env, "config", "check", path, "--tasks", filepath.Join(dir, "tasks"))
	want := [][]string{
		{"TASK", "KIND", "SERVED BY"},
		{"a", "file", dir + "/tasks/a"},
		{"b", "persistent", "SH -c exit"},
		{"c", "http", "https://u:xxxxx@example.com/{task}?..."},
		{"d", "sql", "app.d"},
		{"e", "file", dir + "/tasks/e.sh"},
		{"f", "persistent", "SH"},
		{"g", "exec", "SH --token ${SECRET} -${SECRET}- $${SECRET}"},
		{"h", "exec", "${SHELL}"},
		{"i", "http", "https://u:xxxxx@example.com:80/${SECRET}/{task}"},
		{"j", "http", "${SERVER}/{task}"},
		{"k", "sql", "app.${SECRET}"},
		{path + " is valid: 11 tasks, 0 recurring jobs."},
	}
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if code != cli.ExitOK || stderr != "" || len(lines) != len(want) || strings.Contains(stdout, "s3cret") {
		t.Fatalf("exit code %d, stdout\n%s, stderr %s", code, stdout, stderr)
	}
	for i, line := range lines {
		for _, cell := range want[i] {
			if !strings.Contains(line, strings.TrimPrefix(cell, "SH")) {
				t.Errorf("line %d has no %q: %s", i+1, cell, line)
			}
		}
	}
}

func TestNothingThatConfigCheckSaysShowsTheValueOfAVariable(t *testing.T) {
	env := map[string]string{"SECRET": "s3cret", "URL": "http://h/{s3cret}", "PORT": "http://u:s3cret/p@h/", "NUMBER": "1", "CRLF": "s3cret\n"}
	for text, want := range map[string]string{
		"log_format: ${SECRET}\n":                                    `log_format is "${SECRET}", must be text or json`,
		"log_level: ${SECRET}\n":                                     `log_level is "${SECRET}", must be`,
		"max_pool_size: ${NUMBER}\n":                                 "max_pool_size is ${NUMBER}, must be at least 2",
		"connection: http://${SECRET}\n":                             "connection with the values of its variables is neither a URL",
		"connection: app\nlisten_url: http://${SECRET}\n":            "listen_url with the values of its variables is neither a URL",
		"jobs: ${SECRET}\n":                                          `jobs takes a whole number, not "${SECRET}"`,
		"tasks:\n  a: {http: '${URL}'}\n":                            "a name in braces is not a placeholder",
		"tasks:\n  a: {http: '${PORT}'}\n":                           "http takes a URL",
		"tasks:\n  a: {http: 'http://h/%${SECRET}'}\n":               "http takes a URL",
		"tasks:\n  a: {http: 'http://h', headers: {X: '${CRLF}'}}\n": "header X: its value contains a control character",
	} {
		path := tasksBeside(t, text, "a")
		code, stdout, stderr := command(t, env, "config", "check", path, "--tasks", filepath.Join(filepath.Dir(path), "tasks"))
		if code != cli.ExitFailure || !strings.Contains(stderr, want) || strings.Contains(stdout+stderr, "s3cret") || strings.Contains(stderr, "is 1,") {
			t.Errorf("exit code %d, want %d and %q; it says\n%s%s", code, cli.ExitFailure, want, stdout, stderr)
		}
	}
}

func TestConfigCheckTellsWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want string
	}{
		"syntax":      {"jobs: [\n", "gw.yaml:1:"},
		"key":         {"job: 2\n", "gw.yaml:1:1: there is no key job; is jobs meant?"},
		"range":       {"max_pool_size: 1\n", "gw.yaml:1:16: max_pool_size is 1, must be at least 2"},
		"no such":     {"tasks:\n  gone: {timeout: 5s}\n", "gw.yaml:2:3: nothing serves task gone: there is no executable and no module for it in "},
		"kind":        {"tasks:\n  a: {http: \"http://h/{who}\"}\n", "gw.yaml:2:3: task a: "},
		"flags":       {"tasks:\n  a: {forbidden_flags: []}\n", "gw.yaml:2:24: forbidden_flags is an empty list"},
		"and kind":    {"tasks:\n  a: {http: \"http://h/{who}\", forbidden_flags: {query: x}}\n", "gw.yaml:2:3: task a: "},
		"crontab":     {"crontab: missing\n", "read crontab: open "},
		"and no more": {"jobs: 2\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := tasksBeside(t, c.text, "a")
			code, _, stderr := command(t, nil, "config", "check", path, "--tasks", filepath.Join(filepath.Dir(path), "tasks"))
			if c.want == "" {
				if code != cli.ExitOK || stderr != "" {
					t.Errorf("exit code %d, stderr %s", code, stderr)
				}
				return
			}
			if code != cli.ExitFailure || !strings.Contains(stderr, c.want) {
				t.Errorf("exit code %d, stderr %s, want %d and %q", code, stderr, cli.ExitFailure, c.want)
			}
		})
	}
	if code, _, stderr := command(t, nil, "config", "check", "a", "b"); code != cli.ExitUsage || !strings.Contains(stderr, "one file, not 2") {
		t.Errorf("exit code %d, stderr %s", code, stderr)
	}
}

func TestTheSchemaForEditorsIsPrinted(t *testing.T) {
	file, err := os.ReadFile("../../docs/gw.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := command(t, nil, "config", "schema"); code != cli.ExitOK || stdout != string(file) || stderr != "" {
		t.Errorf("exit code %d, stderr %q, not docs/gw.schema.json but\n%s", code, stderr, stdout)
	}
}
