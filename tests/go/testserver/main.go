// Command testserver runs a command with a PostgreSQL server for tests, and stops the server after it:
//
//	go run ./tests/go/testserver -- go test ./...
//
// The server is the one that GW_TEST_DATABASE_URL names, else a private one from local binaries (those in GW_TEST_BIN_DIR,
// if it is set), else a Docker container, started by the module in the folder docker. GW_TEST_POSTGRES chooses the major
// version of the last.
// The command finds its URL in GW_TEST_DATABASE_URL.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// exitUsage is the exit code for a wrong call; every other one is the command's.
const exitUsage = 2

func main() {
	os.Exit(run(context.Background(), os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) (code int) {
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 {
		fmt.Fprintln(stderr, "usage: testserver -- COMMAND [ARGUMENT]...")
		return exitUsage
	}
	// From here on signals are the command's business: whatever it makes of them, the server is stopped after it.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer signal.Stop(signals)

	server, err := find(ctx, getenv, sources(getenv, stderr)...)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	defer func() {
		if err := server.stop(); err != nil {
			fmt.Fprintln(stderr, err)
			code = max(code, 1)
		}
	}()
	code, err = command(args, server.url, signals, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return code
}

// command runs a command with the server's URL in its environment, passes signals on, and returns its exit code; after a
// signal that is 128 and the signal's number, as in a shell.
func command(args []string, serverURL string, signals <-chan os.Signal, stdout, stderr io.Writer) (int, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), serverVariable+"="+serverURL)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, stdout, stderr
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("run %s: %w", args[0], err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = cmd.Process.Signal(s) // it may have ended already
		case err := <-done:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				return 0, fmt.Errorf("run %s: %w", args[0], err)
			}
			if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
				return 128 + int(status.Signal()), nil
			}
			return cmd.ProcessState.ExitCode(), nil
		}
	}
}
