// Package baddays gives workers bad days: servers that crash, fail over, fill up and refuse; networks that stall and lie;
// kills without end. Real processes, real PostgreSQL, and an account of every job: none lost, none run twice without a
// reason.
package baddays

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) {
	if runAsWorker() || runAsProgram() {
		return
	}
	build := exec.Command("go", "build", "-o", program("gw-run"), "github.com/gwsql/gw/cmd/gw-run")
	if output, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build gw-run: %v\n%s", err, output)
		os.Exit(1)
	}
	pgtest.Main(m)
}

// program returns the path of a program that TestMain has built. It lies beside the test's own binary, in a folder that
// the go command removes after the tests.
func program(name string) string {
	return filepath.Join(filepath.Dir(os.Args[0]), name)
}
