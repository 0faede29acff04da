package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
)

func writeCrontab(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "crontab")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestACrontabIsShownWithoutADatabase(t *testing.T) {
	path := writeCrontab(t, "# a\n0  8 * * 1 mail/send ?id=morning&fill=90m&max=3&queue=q&priority=-1&jobKey=k+l&tz=Asia/Tokyo {b: 0x10}\n* * * * * tick\n")
	code, stdout, stderr := command(t, nil, "cron", "check", "--node", path)
	wantOut := `line 2: 0 8 * * 1 mail/send id=morning tz=Asia/Tokyo fill=1h30m0s max=3 queue=q priority=-1 jobKey="k l" jobKeyMode=replace {"b":16}
line 3: * * * * * tick
` + path + " is valid: 2 items.\n"
	wantErr := "gw-run: no database given: next runs are not shown, time zones not checked\n" +
		path + ":2:80: warning: Graphile Worker for Node.js does not know the option 'tz' and refuses the whole crontab.\n"
	if code != cli.ExitOK || stdout != wantOut || stderr != wantErr {
		t.Errorf("exit code %d, stdout\n%s, stderr\n%s, want %d,\n%s and\n%s", code, stdout, stderr, cli.ExitOK, wantOut, wantErr)
	}
}

func TestWhatNodeDoesNotReadIsToldToThoseWhoHaveIt(t *testing.T) {
	path := writeCrontab(t, "* * * * * tick ?tz=Asia/Tokyo\n")
	if _, _, stderr := command(t, nil, "cron", "check", path); strings.Contains(stderr, "Node") {
		t.Errorf("stderr\n%s", stderr)
	}
}

func TestTasksThatNobodyServesAreAWarning(t *testing.T) {
	path := writeCrontab(t, "* * * * * file\n* * * * * own\n* * * * * fiel\n")
	const warning = ":3:1: warning: neither the folder of tasks nor the config file beside this crontab serves the task \"fiel\".\n"
	if _, _, stderr := command(t, nil, "cron", "check", path); strings.Contains(stderr, "warning") {
		t.Errorf("without tasks beside it, stderr is\n%s", stderr)
	}
	dir := filepath.Dir(path)
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "tasks"), 0o755),
		os.WriteFile(filepath.Join(dir, "tasks", "file"), []byte("#!/bin/sh\n"), 0o755),
		os.WriteFile(filepath.Join(dir, "gw.yaml"), []byte("tasks:\n  own:\n    sql: app.own\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := command(t, nil, "cron", "check", path)
	if want := "gw-run: no database given: next runs are not shown, time zones not checked\n" + path + warning; code != cli.ExitOK || stderr != want {
		t.Errorf("exit code %d, stderr\n%s, want\n%s", code, stderr, want)
	}
}

func TestEveryProblemOfACrontabIsShown(t *testing.T) {
	path := writeCrontab(t, "60 24 * * * a\n* * * * * b\n@daily c\n")
	code, stdout, stderr := command(t, nil, "cron", "check", path)
	for _, want := range []string{
		path + ":1:1: Too large value '60' in minutes range in line 1 of crontab: expected values in the range 0-59.\n",
		path + ":1:4: Too large value '24' in hours range in line 1 of crontab: expected values in the range 0-23.\n",
		path + ":3:1: Could not process line '3' of crontab: '@daily c' (write 0 0 * * * in place of @daily)\n",
		"gw-run: problems in " + path + ": 3; a worker refuses all of it\n",
	} {
		if !strings.Contains(stderr, want) {
			t.Errorf("stderr does not contain %q:\n%s", want, stderr)
		}
	}
	if code != cli.ExitFailure || stdout != "line 2: * * * * * b\n" {
		t.Errorf("exit code %d, stdout %q, want %d and the items that could be read", code, stdout, cli.ExitFailure)
	}
}

func TestMistakesInTheCommandLineOfCronCheck(t *testing.T) {
	path := writeCrontab(t, "")
	for name, c := range map[string]struct {
		args []string
		code int
		want string
	}{
		"no file":       {[]string{"cron", "check"}, cli.ExitUsage, "takes one file, not 0"},
		"two files":     {[]string{"cron", "check", path, path}, cli.ExitUsage, "takes one file, not 2"},
		"missing file":  {[]string{"cron", "check", path + "x"}, cli.ExitFailure, "read crontab: open " + path + "x"},
		"no connection": {[]string{"cron", "check", path, "-c", "http://x"}, cli.ExitUsage, "--connection"},
		"other command": {[]string{"cron", "chekc"}, cli.ExitUsage, "chekc"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := command(t, nil, c.args...)
			if code != c.code || stdout != "" || !strings.Contains(stderr, c.want) {
				t.Errorf("exit code %d, stdout %q, stderr %q, want %d, nothing and %q", code, stdout, stderr, c.code, c.want)
			}
		})
	}
}
