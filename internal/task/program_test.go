package task_test

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
)

// notStartable are programs that cannot be started, with the messages about them, by their file names.
var notStartable = map[string]struct{ content, want string }{
	"missing": {"#!/usr/bin/no-such-python3 -u\n",
		"the interpreter /usr/bin/no-such-python3 that its first line names does not exist"},
	"spaces":   {"#! \t/no/such/sh\t-e\n", "the interpreter /no/such/sh that its first line names does not exist"},
	"relative": {"#!no-such-sh\n", "the interpreter no-such-sh that its first line names does not exist"},
	"folder":   {"#!/\n", "the interpreter / that its first line names is not executable"},
	"crlf":     {"#!/bin/sh\r\necho\r\n", `its first line ends in CR LF, as on Windows, so that the kernel looks for the interpreter "/bin/sh\r"`},
	"env_crlf": {"#!/usr/bin/env sh\r\necho\r\n", "its first line ends in CR LF"},
	"env": {"#!/usr/bin/env no-such-python3\n",
		"the interpreter no-such-python3 that its first line names is not in $PATH"},
	"none":    {"echo hello\n", "its first line names no interpreter; a script begins with a line such as #!/bin/sh"},
	"nothing": {"#!\n", "its first line names no interpreter after #!"},
	"empty":   {"", "its first line names no interpreter"},
	"mark":    {"\xef\xbb\xbf#!/bin/sh\n", "there is a byte order mark before its #! line"},
	"module.js": {"// Sends mail.\n\nexport default async (payload, helpers) => {};\n",
		"it is a JavaScript module that exports a function"},
	"common.cjs":   {"module.exports = async (payload) => {};\n", "it is a JavaScript module that exports a function"},
	"typed.ts":     {"import type { Task } from 'graphile-worker';\nconst task: Task = async () => {};\nexport default task;\n", "it is a JavaScript module"},
	"statement.js": {"console.log(1)\n", "its first line names no interpreter"},
}

func TestAProgramThatCannotBeStartedSaysWhy(t *testing.T) {
	pgtest.OnOneVersion(t)
	dir := t.TempDir()
	launcher := task.NewLauncher()
	defer launcher.Close()
	for name, c := range notStartable {
		t.Run(name, func(t *testing.T) {
			path := write(t, 0o755, c.content, dir, name)
			wantReason(t, "CheckProgram", task.CheckProgram(path, "", nil), path+": "+c.want)
			if strings.HasPrefix(name, "env") {
				return // env is started, and finds nothing
			}
			wantReason(t, "Run", task.Executable{Path: path}.Run(t.Context(), newJob()),
				"start the task's program: "+path+": "+c.want)
			p := task.NewPersistent(task.PersistentConfig{Task: "a", Program: task.Executable{Path: path},
				Launcher: launcher, Logger: slog.Default()})
			defer p.Close()
			wantReason(t, "Persistent.Run", p.Run(t.Context(), newJob()), "start the task's program: "+path+": "+c.want)
		})
	}
}

func TestAProgramThatIsGoneOrCannotBeExecutedSaysSo(t *testing.T) {
	pgtest.OnOneVersion(t)
	dir := t.TempDir()
	write(t, 0o644, "#!/bin/sh\n", dir, "readable")
	for name, want := range map[string]string{
		"gone": " does not exist", "readable": " is not executable, see chmod u+x", ".": " is a folder",
	} {
		path := filepath.Join(dir, name)
		wantReason(t, "Run", task.Executable{Path: path}.Run(t.Context(), newJob()),
			"start the task's program: "+path+want)
	}
	wantReason(t, "CheckProgram", task.CheckProgram("./gone", dir, nil), filepath.Join(dir, "gone")+" does not exist")
}

func TestNothingIsSaidOfProgramsThatCanBeStarted(t *testing.T) {
	pgtest.OnOneVersion(t)
	dir := t.TempDir()
	write(t, 0o755, "#!/bin/sh\n", dir, "bin", "own")
	for name, content := range map[string]string{
		"sh":        "#!/bin/sh\n",
		"argument":  "#! /bin/sh -eu\n",
		"no_end":    "#!/bin/sh",
		"env":       "#!/usr/bin/env sh\n",
		"env_s":     "#!/usr/bin/env -S no-such-program -u\n",
		"own_path":  "#!/usr/bin/env own\n",
		"binary":    "\x7fELF\x02\x01\x01\x00\x00\x00",
		"long":      "#!/bin/sh" + strings.Repeat(" ", 300) + "\n",
		"module.js": "#!/bin/sh\nexport default 1\n",
	} {
		if err := task.CheckProgram(write(t, 0o755, content, dir, name), dir, []string{"PATH=" +
			filepath.Join(dir, "bin")}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := task.CheckProgram("sh", dir, nil); err == nil || !strings.Contains(err.Error(), "does not exist") {
		t.Errorf("a bare name is a path here: %v", err)
	}
}

func wantReason(t *testing.T, what string, err error, want string) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%s: %v, want it to begin with %s", what, err, want)
	}
}
