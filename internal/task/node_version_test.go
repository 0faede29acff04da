package task_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
)

func TestTheNodeOfPathIsTakenIfItIsNewEnough(t *testing.T) {
	pgtest.OnOneVersion(t)
	for version, want := range map[string]struct {
		args    []string
		problem string
	}{
		"echo v22.18.0":  {nil, ""},
		"echo v24.1.0":   {nil, ""},
		"echo v18.0.0":   {nil, ""},
		"echo v22.5.9":   {nil, ""},
		"echo v22.6.0":   {[]string{"--experimental-strip-types"}, ""},
		"echo v23.5.1":   {[]string{"--experimental-strip-types"}, ""},
		"echo v23.6.0":   {nil, ""},
		"echo v16.20.2":  {nil, "is Node.js 16.20, which is too old for task modules; they need 18 or newer"},
		"echo amateur 1": {nil, `is not Node.js: it prints the version "amateur 1"`},
		"exit 3":         {nil, "for its version: exit status 3"},
	} {
		t.Run(version, func(t *testing.T) {
			dir := t.TempDir()
			t.Setenv("PATH", dir)
			t.Setenv("NODE_OPTIONS", "")
			path := write(t, 0o755, "#!/bin/sh\n"+version+"\n", dir, "node")
			program, err := task.FindNode(t.Context())
			if want.problem != "" {
				if err == nil || !strings.Contains(err.Error(), want.problem) || !strings.Contains(err.Error(), path) {
					t.Errorf("error is %v, want %s", err, want.problem)
				}
				return
			}
			if err != nil || program.Path != path || !slices.Equal(program.Args, want.args) {
				t.Errorf("got %+v, %v", program, err)
			}
			t.Setenv("NODE_OPTIONS", "--import tsx")
			if program, err = task.FindNode(t.Context()); err != nil || program.Args != nil {
				t.Errorf("with a loader: got %+v, %v", program, err)
			}
		})
	}
	t.Setenv("PATH", t.TempDir()+string(os.PathListSeparator)+filepath.Join(t.TempDir(), "missing"))
	if _, err := task.FindNode(t.Context()); !errors.Is(err, task.ErrNoNode) {
		t.Errorf("without one: %v", err)
	}
}
