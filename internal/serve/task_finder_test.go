package serve

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/pgtest"
)

// A task whose program cannot be started is served: the interpreter may be installed later.
func TestTasksWhoseProgramsCannotBeStartedAreToldOnceAndServed(t *testing.T) {
	pgtest.OnOneVersion(t)
	dir := t.TempDir()
	for name, content := range map[string]string{"works": "#!/bin/sh\n", "broken": "#!/no/such/sh\n",
		"exec": "#!/bin/sh\r\n", ".hidden": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "README.md"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	file := &config.File{Tasks: map[string]config.Task{
		"own": {Name: "own", Kind: config.Persistent,
			Program: config.Program{Command: []string{filepath.Join(dir, "exec")}, Directory: dir}},
	}}
	var log bytes.Buffer
	finder := newTaskFinder(TaskFolder{Path: dir}, slog.New(slog.NewTextHandler(&log, nil)))
	for range 2 {
		found, err := finder.find(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) != 4 {
			t.Errorf("tasks: %v, want all four", found)
		}
	}
	for _, want := range []string{
		`level=WARN msg="program of a task cannot be started" task_identifier=broken reason="` +
			filepath.Join(dir, "broken") +
			`: the interpreter /no/such/sh that its first line names does not exist"`,
		`level=WARN msg="program of a task cannot be started" task_identifier=own reason="`,
		`level=WARN msg="file serves no task" path=README.md`,
		`level=INFO msg="file serves no task" path=.hidden`,
	} {
		if strings.Count(log.String(), want) != 1 {
			t.Errorf("log:\n%s\nwant once\n%s", log.String(), want)
		}
	}
	if strings.Contains(log.String(), "=works") {
		t.Errorf("nothing is to be said of a task that can be started:\n%s", log.String())
	}
}

func TestARecurringJobWhoseTaskIsNotServedIsTold(t *testing.T) {
	pgtest.OnOneVersion(t)
	path := filepath.Join(t.TempDir(), "crontab")
	if err := os.WriteFile(path, []byte("* * * * * here\n\n0 8 * * * elsewhere ?id=morning\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := CrontabFile{Path: path}
	sources, err := file.read()
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	file.announce(slog.New(slog.NewTextHandler(&log, nil)), sources, map[string]*service{"here": {}})
	want := `items=2` + "\n" + `time=`
	if !strings.Contains(log.String(), want) {
		t.Errorf("log:\n%s\nwant\n%s", log.String(), want)
	}
	want = `level=WARN msg="a recurring job has a task that this worker does not serve: its jobs wait for another worker" ` +
		`task_identifier=elsewhere identifier=morning at=` + path + ":3\n"
	if !strings.HasSuffix(log.String(), want) || strings.Count(log.String(), "\n") != 2 {
		t.Errorf("log:\n%s\nwant\n%s", log.String(), want)
	}
}
