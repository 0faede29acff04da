package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/gwsql/gw/internal/config"
)

// configured completes options from flags, an environment and the text of a config file.
func configured(t *testing.T, text string, env map[string]string, args ...string) (*options, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gw.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	o := newOptions()
	getenv := func(name string) string { return env[name] }
	flags := newCommandFlags(o, getenv)
	if err := flags.Parse(append(args, "--config", path)); err != nil {
		t.Fatal(err)
	}
	return o, o.complete(flags, getenv)
}

func TestAFlagGoesBeforeTheEnvironmentAndThatBeforeTheConfigFile(t *testing.T) {
	const text = "connection: from_file\nschema: file\njobs: 3\nquiet: false\nlog_level: warn\npoll_interval: 5s\n"
	env := map[string]string{
		"DATABASE_URL": "from_env", "GRAPHILE_WORKER_SCHEMA": "env", "NO_LOG_SUCCESS": "1", "GRAPHILE_LOGGER_DEBUG": "1",
	}
	for name, c := range map[string]struct {
		env                       map[string]string
		args                      []string
		connection, schema, level string
		jobs                      int
		poll                      time.Duration
		quiet                     bool
	}{
		"file":        {nil, nil, "dbname='from_file'", "file", "WARN", 3, 5 * time.Second, false},
		"environment": {env, nil, "dbname='from_env'", "env", "DEBUG", 3, 5 * time.Second, true},
		"flags": {
			env, []string{"-c", "from_flag", "-s", "flag", "-j", "7", "--quiet=false", "--log-level", "error", "--poll-interval", "1s"},
			"dbname='from_flag'", "flag", "ERROR", 7, time.Second, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := configured(t, text, c.env, c.args...)
			if err != nil {
				t.Fatal(err)
			}
			if o.database.connection != c.connection || o.database.schema != c.schema || o.level.String() != c.level ||
				o.worker.Jobs != c.jobs || o.worker.PollInterval != c.poll || o.worker.Quiet != c.quiet {
				t.Errorf("options are %+v, want %+v", o, c)
			}
		})
	}
}

func TestPathsOfTheConfigFileBeginBesideIt(t *testing.T) {
	o, err := configured(t, "tasks_folder: work\n", map[string]string{"DATABASE_URL": "app"})
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(o.configPath)
	if o.worker.Tasks.Path != filepath.Join(dir, "work") || o.worker.Crontab.Path != filepath.Join(dir, "crontab") {
		t.Errorf("the folder of tasks is %s, the crontab %s", o.worker.Tasks.Path, o.worker.Crontab.Path)
	}
}

func TestTheConsoleBesideAWorkerHasANameAndLinks(t *testing.T) {
	const text = "ui: 127.0.0.1:9465\nui_name: eu\nui_color: red\nui_links:\n  us: https://us.example.com\n  asia: https://asia.example.com\n"
	for want, args := range map[string][]string{
		"eu: us=https://us.example.com asia=https://asia.example.com": nil,
		"europe: us=http://us": {"--ui-name", "europe", "--ui-link", "us=http://us"},
	} {
		o, err := configured(t, text, map[string]string{"DATABASE_URL": "app"}, args...)
		if err != nil {
			t.Fatal(err)
		}
		if got := o.worker.UI.Color.String(); got != "red" {
			t.Errorf("the color of the console is %q", got)
		}
		if got := o.worker.UI.Name + ": " + o.worker.UI.Links.String(); got != want {
			t.Errorf("the console has %s, want %s", got, want)
		}
	}
}

func TestSettingsThatCannotBeAreToldWhereTheyComeFrom(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		args []string
		code int
		want string
	}{
		"in the file":     {"max_pool_size: 1\nlog_format: xml\n", nil, exitFailure, "gw.yaml:1:16: max_pool_size is 1, must be at least 2\nFILE/gw.yaml:2:13: log_format is \"xml\""},
		"in a flag":       {"max_pool_size: 5\n", []string{"-m", "1"}, exitUsage, "--max-pool-size is 1, must be at least 2"},
		"connection":      {"connection: http://x\n", nil, exitFailure, "FILE/gw.yaml:1:13: read connection from connection: it is a URL, but not one that begins with postgres://"},
		"between the two": {"no_listen: true\n", []string{"--listen-url", "app"}, exitFailure, "gw.yaml:1:12: no_listen and --listen-url exclude each other"},
		"watch once":      {"", []string{"-w", "--once"}, exitUsage, "--watch and --once exclude each other"},
		"link":            {"ui_links:\n  us: https://us\n  eu: queue\n", nil, exitFailure, "gw.yaml:3:7: ui_links must have a URL that begins with http:// or https:// for eu"},
		"color":           {"ui_color: pink\n", nil, exitFailure, "gw.yaml:1:11: ui_color must be one of red, orange"},
		"no links":        {"ui_links: https://us\n", nil, exitFailure, "gw.yaml:1:11: ui_links takes keys with values"},
		"mistake":         {"jbos: 1\n", nil, exitFailure, "gw.yaml:1:1: there is no key jbos; is jobs meant?"},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := configured(t, c.text, map[string]string{"DATABASE_URL": "app"}, c.args...)
			want := strings.ReplaceAll(c.want, "FILE", filepath.Dir(o.configPath))
			if name == "connection" { // the environment has one, which takes precedence
				o, err = configured(t, c.text, nil, c.args...)
				want = strings.ReplaceAll(c.want, "FILE", filepath.Dir(o.configPath))
			}
			if err == nil || exitCode(err) != c.code || !strings.Contains(err.Error(), want) {
				t.Errorf("exit code %d, error\n%v, want %d and\n%s", exitCode(err), err, c.code, want)
			}
		})
	}
}

func TestAConfigFileIsMissedOnlyIfItWasAskedFor(t *testing.T) {
	dir := t.TempDir()
	o := newOptions()
	o.worker.Tasks.Path = filepath.Join(dir, "tasks")
	if file, err := o.findConfig(os.Getenv).Read(); err != nil || file.Path != filepath.Join(dir, "gw.yaml") {
		t.Errorf("got %+v, error %v", file, err)
	}
	code, _, stderr := command(t, nil, "-c", "app", "--config", filepath.Join(dir, "gw.yaml"))
	if want := "read config: open " + filepath.Join(dir, "gw.yaml"); code != exitFailure || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d, stderr %q, want %d and %q", code, stderr, exitFailure, want)
	}
}

// Every flag of the worker, except those about the invocation itself, has a key in the config file.
func TestEveryFlagHasItsSetting(t *testing.T) {
	settings := map[string]bool{"config": true, "watch": true, "once": true, "schema-only": true, "cleanup": true}
	for _, key := range config.Settings() {
		if settings[key.Flag] {
			t.Errorf("--%s occurs twice", key.Flag)
		}
		settings[key.Flag] = true
	}
	newCommandFlags(newOptions(), os.Getenv).VisitAll(func(flag *pflag.Flag) {
		if !settings[flag.Name] {
			t.Errorf("no key of the config file mirrors --%s", flag.Name)
		}
		delete(settings, flag.Name)
	})
	for name := range settings {
		t.Errorf("there is no flag --%s", name)
	}
}

func TestConfigCheckSaysThatThereIsNoFile(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "tasks"), 0o755),
		os.WriteFile(filepath.Join(dir, "tasks", "a"), []byte("#!/bin/sh\n"), 0o755)); err != nil {
		t.Fatal(err)
	}
	code, stdout, _ := command(t, nil, "config", "check", "--tasks", filepath.Join(dir, "tasks"))
	if want := "There is no " + filepath.Join(dir, "gw.yaml") + "; without it a worker has: 1 task, 0 recurring jobs.\n"; code != exitOK || !strings.HasSuffix(stdout, want) {
		t.Errorf("exit code %d, stdout\n%s, want\n%s", code, stdout, want)
	}
	if code, _, stderr := command(t, nil, "config", "check", "--config", filepath.Join(dir, "own.yaml")); code == exitOK || !strings.Contains(stderr, "own.yaml") {
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
	if code != exitOK || stderr != "" || len(lines) != len(want) || strings.Contains(stdout, "s3cret") {
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
		if code != exitFailure || !strings.Contains(stderr, want) || strings.Contains(stdout+stderr, "s3cret") || strings.Contains(stderr, "is 1,") {
			t.Errorf("exit code %d, want %d and %q; it says\n%s%s", code, exitFailure, want, stdout, stderr)
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
				if code != exitOK || stderr != "" {
					t.Errorf("exit code %d, stderr %s", code, stderr)
				}
				return
			}
			if code != exitFailure || !strings.Contains(stderr, c.want) {
				t.Errorf("exit code %d, stderr %s, want %d and %q", code, stderr, exitFailure, c.want)
			}
		})
	}
	if code, _, stderr := command(t, nil, "config", "check", "a", "b"); code != exitUsage || !strings.Contains(stderr, "one file, not 2") {
		t.Errorf("exit code %d, stderr %s", code, stderr)
	}
}

func TestTheSchemaForEditorsIsPrinted(t *testing.T) {
	file, err := os.ReadFile("../../docs/gw.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	if code, stdout, stderr := command(t, nil, "config", "schema"); code != exitOK || stdout != string(file) || stderr != "" {
		t.Errorf("exit code %d, stderr %q, not docs/gw.schema.json but\n%s", code, stderr, stdout)
	}
}
