package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/bench/internal/subject"
)

// fakePrograms is a folder with a shell script as the program fake.
func fakePrograms(t *testing.T, script string) *programs {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "fake"), []byte("#!/bin/sh\n"+script), 0o700); err != nil {
		t.Fatal(err)
	}
	return &programs{dir}
}

func TestAPeerOfAnotherVersionIsRefused(t *testing.T) {
	p := fakePrograms(t, `echo '{"ready":"1.2.3"}'; read -r line`)
	right := &family{program: "fake", version: "1.2.3"}
	w, err := startProcess(t.Context(), right, p, subject.Order{})
	if err != nil {
		t.Fatal(err)
	}
	w.kill()
	wrong := &family{program: "fake", version: "1.2.4"}
	_, err = startProcess(t.Context(), wrong, p, subject.Order{})
	if err == nil || !strings.Contains(err.Error(), "version 1.2.3, want 1.2.4") {
		t.Errorf("the error is %v", err)
	}
}

func TestAProcessThatFailsSaysWhy(t *testing.T) {
	f := &family{program: "fake"}
	for name, c := range map[string]struct{ script, want string }{
		"it gives up": {`echo '{"ready":"1"}'; read -r line; echo '{"error":"no table"}'; exit 1`, "no table"},
		"it crashes":  {`echo '{"ready":"1"}'; read -r line; echo 'panic: oh' >&2; exit 2`, "exit status 2\npanic: oh"},
		"it answers something else": {`echo '{"ready":"1"}'; read -r line; echo '{"added":{"id":1}}'; read -r line`,
			"does not tell its status"},
	} {
		w, err := startProcess(t.Context(), f, fakePrograms(t, c.script), subject.Order{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = w.status(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: the error is %v, want %q in it", name, err, c.want)
		}
		w.kill()
	}
}

func TestAProcessMustEndInGoodOrder(t *testing.T) {
	f := &family{program: "fake"}
	for script, good := range map[string]bool{
		`echo '{"ready":"1"}'; read -r line; echo '{"stopped":true}'`:         true,
		`echo '{"ready":"1"}'; read -r line; echo '{"stopped":true}'; exit 1`: false,
		`echo '{"ready":"1"}'; read -r line`:                                  false,
	} {
		w, err := startProcess(t.Context(), f, fakePrograms(t, script), subject.Order{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.stop(t.Context()); (err == nil) != good {
			t.Errorf("%s: the error is %v", script, err)
		}
		w.kill()
	}
}
