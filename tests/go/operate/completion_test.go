package operate

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

// complete returns what gw-run offers a shell for the last argument, without the directive at the end.
func (b bench) complete(args ...string) string {
	b.t.Helper()
	got := b.run(append([]string{"__complete"}, args...)...)
	names, _, ok := strings.Cut("\n"+got.stdout, "\n:4\n")
	if got.code != 0 || !ok || got.stderr != "Completion ended with directive: ShellCompDirectiveNoFileComp\n" {
		b.t.Errorf("%q: exit code %d, stdout\n%s, stderr\n%s", args, got.code, got.stdout, got.stderr)
	}
	return strings.TrimSpace(strings.ReplaceAll(names, "\n", " "))
}

func TestShellsCompleteNamesOfTheDatabase(t *testing.T) {
	b := newBench(t)
	b.exec(
		`select .add_job('mail/send', queue_name => 'q1')`, `select .add_job('mail/sort', queue_name => 'q2')`,
		`select .add_job('other')`,
		`select .add_job(e'mail/\nls')`,
		`select .set_limit('api', max_running => 1)`, `select .set_limit('exports', max_running => 1)`,
		`select .get_job('worker-1', '{other}')`)
	for args, want := range map[string]string{
		"add|":                  "mail/send mail/sort other",
		"add|mail/s":            "mail/send mail/sort",
		"jobs|--task|mail/se":   "mail/send",
		"history|--task|o":      "other",
		"limit|set|new|--task|": "mail/send mail/sort other",
		"jobs|--queue|":         "q1 q2",
		"pause|--queue|q2":      "q2",
		"pause|--limit|":        "api exports",
		"limit|drop|":           "api exports",
		"limit|drop|api|":       "",
		"limit|lanes|e":         "exports",
		"unlock|":               "worker-1",
		"history|--worker|w":    "worker-1",
	} {
		got := b.complete(strings.Split(args, "|")...)
		for try := 0; try < 20 && got != want; try++ { // a busy machine may need more than the time that a shell gives
			got = b.complete(strings.Split(args, "|")...)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", args, got, want)
		}
	}
}

func TestShellsDoNotWaitForADatabaseThatDoesNotAnswer(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tasks"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tasks", "hello"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_ = pgtest.Program(t, "gw-run") // built before the folder changes
	t.Chdir(dir)
	for name, url := range map[string]string{
		"silent": "postgres://u@" + silent.Addr().String() + "/d?sslmode=disable", "closed": "postgres://u@" +
			closed.Addr().String() + "/d",
		"none": "", "wrong": "postgres://%",
	} {
		b := bench{t: t, url: url}
		began := time.Now()
		if got := b.complete("add", ""); got != "hello" {
			t.Errorf("%s: %q", name, got)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("%s: the shell waits %v", name, took)
		}
	}
}
