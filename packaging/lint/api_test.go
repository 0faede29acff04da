package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// project is a repository with a module and our check of its API.
type project struct {
	t   *testing.T
	dir string
}

func (p project) write(path, text string) {
	p.t.Helper()
	path = filepath.Join(p.dir, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		p.t.Fatal(err)
	}
}

func (p project) git(args ...string) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "git", append([]string{"-c", "user.name=test", "-c", "user.email=test@localhost"}, args...)...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if output, err := cmd.CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v\n%s", cmd, err, output)
	}
}

// check runs the check, which must pass or fail as wanted and print a part.
func (p project) check(passes bool, part string) {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "scripts/check-api.sh")
	cmd.Dir = p.dir
	if output, err := cmd.CombinedOutput(); (err == nil) != passes || !strings.Contains(string(output), part) {
		p.t.Errorf("error %v, want a pass: %v, with %q:\n%s", err, passes, part, output)
	}
}

func TestTheChangelogNamesIncompatibleChangesSinceTheLastTag(t *testing.T) {
	p := project{t, t.TempDir()}
	changelog := func(unreleased string) {
		p.write("CHANGELOG.md", "# Changelog\n\n## [Unreleased]\n"+unreleased+"\n## [0.1.0] - 2026-01-01\n\n- `Add`, which adds.\n")
	}
	changelog("")
	p.write("scripts/check-api.sh", read(t, "scripts/check-api.sh"))
	p.write("go.mod", "module example.test/lib\n\ngo 1.26.0\n")
	p.write("pkg/lib/lib.go", "package lib\n\nfunc Add(int) {}\n")
	p.write("tests/tests.go", "package tests\n\nfunc Help() {}\n")
	p.git("init", "--quiet")
	p.git("add", ".")
	p.git("commit", "--quiet", "-m", "test")
	p.check(true, "apidiff is left out")

	p.git("tag", "v0.1.0")
	p.write("pkg/lib/lib.go", "package lib\n\nfunc Add(int) {}\n\nfunc Wait() {}\n")
	p.write("tests/tests.go", "package tests\n")
	p.check(true, "")
	p.write("pkg/lib/lib.go", "package lib\n\nfunc Add(string) {}\n")
	p.check(false, "incompatible with v0.1.0, and not in CHANGELOG.md: ./pkg/lib.Add: changed from func(int) to func(string)\n")
	changelog("\n- `Add` takes a text.\n")
	p.check(true, "")
}
