package task_test

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
)

// write makes a file with its folders and returns its path.
func write(t *testing.T, mode os.FileMode, content string, name ...string) string {
	t.Helper()
	path := filepath.Join(name...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestExecutablesAreNamedByFoldersAndTheirNameUpToTheFirstDot(t *testing.T) {
	pgtest.OnOneVersion(t)
	dir := t.TempDir()
	want := map[string]string{
		"hello":         write(t, 0o755, "", dir, "hello"),
		"report":        write(t, 0o700, "", dir, "report.daily.sh"),
		"mail/send":     write(t, 0o755, "", dir, "mail", "send.py"),
		"mail/in/fetch": write(t, 0o755, "", dir, "mail", "in", "fetch"),
		"A_b-9":         write(t, 0o755, "", dir, "A_b-9"),
	}
	found, err := task.Discover(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(found.Tasks, want) {
		t.Errorf("tasks %v, want %v", found.Tasks, want)
	}
	if len(found.Ignored) != 0 {
		t.Errorf("ignored %v", found.Ignored)
	}
}

func TestTheFirstExecutableByNameServesTheTask(t *testing.T) {
	pgtest.OnOneVersion(t)
	dir := t.TempDir()
	write(t, 0o644, "", dir, "job.a")
	second := write(t, 0o755, "", dir, "job.b")
	write(t, 0o755, "", dir, "job.c")
	found, err := task.Discover(dir)
	if err != nil {
		t.Fatal(err)
	}
	if found.Tasks["job"] != second || len(found.Tasks) != 1 {
		t.Errorf("tasks %v, want job.b alone", found.Tasks)
	}
	wantIgnored(t, found, map[string]string{"job.a": "not executable", "job.c": "job.b serves the task job already"})
}

func TestWhatServesNoTaskIsIgnoredWithAReason(t *testing.T) {
	pgtest.OnOneVersion(t)
	dir := t.TempDir()
	write(t, 0o644, "", dir, "README.md")
	write(t, 0o755, "", dir, ".hidden")
	write(t, 0o755, "", dir, "two words")
	write(t, 0o755, "", dir, "twice..dotted")
	write(t, 0o755, "", dir, "a.b", "lost")
	write(t, 0o077, "", dir, "others-only")
	link(t, "nowhere", dir, "broken")
	found, err := task.Discover(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Tasks) != 0 {
		t.Errorf("tasks %v, want none", found.Tasks)
	}
	wantIgnored(t, found, map[string]string{
		"README.md":     "not executable",
		".hidden":       "the name of a task file",
		"two words":     "the name of a task file",
		"twice..dotted": "the name of a task file",
		"a.b":           "the name of a task folder",
		"others-only":   "not executable",
		"broken":        "cannot be read",
	})
}

func TestModulesAreFoundAsGraphileWorkerFindsThem(t *testing.T) {
	pgtest.OnOneVersion(t)
	dir := t.TempDir()
	const script = "#!/usr/bin/env node\n"
	want := map[string]string{
		"send":       write(t, 0o644, "", dir, "send.ts"),
		"mail/in":    write(t, 0o644, "", dir, "mail", "in.mjs"),
		"all":        write(t, 0o644, "", dir, "all.js"),
		"executable": write(t, 0o755, "export default () => {}", dir, "executable.js"),
		"text":       write(t, 0o644, script, dir, "text.cjs"),
		"both":       write(t, 0o644, "", dir, "both.mts"),
		"a":          write(t, 0o644, "", dir, "a.cjs"),
	}
	for _, name := range []string{"all.cjs", "all.mjs", "all.mts", "all.ts", "a.ts", "types.d.ts", "all.js.map",
		"send.test.ts"} {
		write(t, 0o644, "", dir, name)
	}
	executables := map[string]string{
		"script": write(t, 0o755, script, dir, "script.js"),
		"both":   write(t, 0o755, "", dir, "both"),
	}
	found, err := task.Discover(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(found.Modules, want) {
		t.Errorf("modules %v, want %v", found.Modules, want)
	}
	if !maps.Equal(found.Tasks, executables) {
		t.Errorf("executables %v, want %v", found.Tasks, executables)
	}
	wantIgnored(t, found, map[string]string{
		"all.cjs": "all.js serves the task all already", "all.mjs": "all.js serves", "all.mts": "all.js serves",
		"all.ts": "all.js serves", "a.ts": "a.cjs serves", "types.d.ts": "not executable",
		"all.js.map":   "not executable",
		"send.test.ts": "not executable",
	})
}

func TestLinksToFilesAreFollowedAndLinksToFoldersAreNot(t *testing.T) {
	pgtest.OnOneVersion(t)
	dir, elsewhere := t.TempDir(), t.TempDir()
	target := write(t, 0o755, "", elsewhere, "target.sh")
	link(t, target, dir, "linked")
	link(t, elsewhere, dir, "folder")
	found, err := task.Discover(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"linked": filepath.Join(dir, "linked")}
	if !maps.Equal(found.Tasks, want) {
		t.Errorf("tasks %v, want %v", found.Tasks, want)
	}
	wantIgnored(t, found, map[string]string{"folder": "links to folders are not followed"})
}

func TestAMissingFolderIsAnErrorThatNamesIt(t *testing.T) {
	pgtest.OnOneVersion(t)
	dir := filepath.Join(t.TempDir(), "tasks")
	_, err := task.Discover(dir)
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("error %v, want one that names %s", err, dir)
	}
}

func link(t *testing.T, target string, name ...string) {
	t.Helper()
	if err := os.Symlink(target, filepath.Join(name...)); err != nil {
		t.Fatal(err)
	}
}

func wantIgnored(t *testing.T, found task.Found, want map[string]string) {
	t.Helper()
	if len(found.Ignored) != len(want) {
		t.Errorf("ignored %v, want %v", found.Ignored, want)
	}
	for _, ignored := range found.Ignored {
		reason, expected := want[ignored.Path]
		if !expected || !strings.Contains(ignored.Reason, reason) {
			t.Errorf("ignored %v, want the reason %q", ignored, reason)
		}
	}
}
