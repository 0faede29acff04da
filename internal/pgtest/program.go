package pgtest

import (
	"os"
	osexec "os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// programsVariable is the environment variable with a folder that contains gw-run and gw-migrate: make test builds them
// once for all packages.
const programsVariable = "GW_TEST_PROGRAMS"

var (
	buildPrograms sync.Mutex
	builtPrograms = make(map[string]bool) // by name
)

// Program returns the path of gw-run or gw-migrate in the folder of GW_TEST_PROGRAMS. Without that variable it builds
// the program on the first call beside the test's own binary, in a folder that the go command removes after the tests.
// The programs are built without cgo, as for a release.
func Program(t testing.TB, name string) string {
	t.Helper()
	if dir := os.Getenv(programsVariable); dir != "" {
		return filepath.Join(dir, name)
	}
	test, err := os.Executable()
	if err != nil {
		t.Fatalf("build %s: %v", name, err)
	}
	path := filepath.Join(filepath.Dir(test), name)
	buildPrograms.Lock()
	defer buildPrograms.Unlock()
	if !builtPrograms[name] {
		build := osexec.Command("go", "build", "-o", path, "github.com/gwsql/gw/cmd/"+name)
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if output, err := build.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, output)
		}
		builtPrograms[name] = true
	}
	return path
}
