package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/gwsql/gw/internal/clitest"
	"github.com/gwsql/gw/internal/stop"
)

func TestEveryCommandHasADescriptionAndExamples(t *testing.T) {
	clitest.CheckHelp(t, newCommand(Env{func(string) string { return "" }, stop.New()}))
}

func TestTheManualHasTheFlagsOfAWorkerAndNoOther(t *testing.T) {
	manual, err := os.ReadFile("../../docs/quick-start.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(manual), "| flag | default | meaning |\n")
	table, _, _ = strings.Cut(table, "\n\n")
	var documented []string
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		for _, match := range regexp.MustCompile("`--([a-z-]+)`").FindAllStringSubmatch(cells[1], -1) {
			documented = append(documented, match[1])
		}
	}
	flags := newCommandFlags(newOptions(), func(string) string { return "" })
	flags.VisitAll(func(flag *pflag.Flag) {
		if !slices.Contains(documented, flag.Name) {
			t.Errorf("docs/quick-start.md lacks --%s", flag.Name)
		}
	})
	for _, name := range documented {
		if flags.Lookup(name) == nil {
			t.Errorf("docs/quick-start.md has --%s, which does not exist", name)
		}
	}
}

func TestShellsCompleteCommandsFlagsAndTheirValues(t *testing.T) {
	for want, args := range map[string][]string{
		"version":      {"__complete", "ver"},
		"--log-format": {"__complete", "--log-f"},
		"json":         {"__complete", "--log-format", ""},
		":16":          {"__complete", "--tasks", ""}, // folders only
	} {
		if code, stdout, _ := command(t, nil, args...); code != exitOK || !strings.Contains(stdout, want) {
			t.Errorf("%q: exit code %d, %q, want %s", args, code, stdout, want)
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if code, stdout, _ := command(t, nil, "completion", shell); code != exitOK || !strings.Contains(stdout, "gw-run") {
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
		if code, stdout, _ := command(t, nil, args...); code != exitOK || stdout != "hello\nmail/send\n:4\n" {
			t.Errorf("%q: exit code %d, %q", args, code, stdout)
		}
	}
}
