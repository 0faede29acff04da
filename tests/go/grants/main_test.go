// Package grants looks at what roles other than the owner may do, by what the server says of their rights and by what
// they get when they try.
package grants

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

var update = flag.Bool("update", false, "rewrite testdata/privileges.txt")

func TestMain(m *testing.M) {
	build := exec.Command("go", "build", "-o", program("gw-run"), "github.com/gwsql/gw/cmd/gw-run")
	if output, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build gw-run: %v\n%s", err, output)
		os.Exit(1)
	}
	pgtest.Main(m)
}

// program returns the path of a program that TestMain has built, beside the test's own binary.
func program(name string) string { return filepath.Join(filepath.Dir(os.Args[0]), name) }
