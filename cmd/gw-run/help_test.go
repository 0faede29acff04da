package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/clitest"
	"github.com/gwsql/gw/internal/stop"
)

func TestEveryCommandHasADescriptionAndExamples(t *testing.T) {
	clitest.CheckHelp(t, newCommand(cli.Env{Getenv: func(string) string { return "" }, Stops: stop.New()}))
}

func TestShellsCompleteCommandsFlagsAndTheirValues(t *testing.T) {
	for want, args := range map[string][]string{
		"version":      {"__complete", "ver"},
		"--log-format": {"__complete", "--log-f"},
		"json":         {"__complete", "--log-format", ""},
		":16":          {"__complete", "--tasks", ""}, // folders only
	} {
		if code, stdout, _ := command(t, nil, args...); code != cli.ExitOK || !strings.Contains(stdout, want) {
			t.Errorf("%q: exit code %d, %q, want %s", args, code, stdout, want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if code, stdout, _ := command(t, nil, "completion", shell); code != cli.ExitOK || !strings.Contains(stdout, "gw-run") {
			t.Errorf("%s: exit code %d, %q", shell, code, stdout)
		}
	}
}

func TestShellsCompleteTheTasksOfTheFolder(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.MkdirAll(filepath.Join(dir, "tasks", "mail"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"hello", "mail/send.sh"} {
		if err := os.WriteFile(filepath.Join(dir, "tasks", name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"__complete", "add", ""}, {"__complete", "jobs", "--task", ""}} {
		if code, stdout, _ := command(t, nil, args...); code != cli.ExitOK || stdout != "hello\nmail/send\n:4\n" {
			t.Errorf("%q: exit code %d, %q", args, code, stdout)
		}
	}
}
