// Command gw-migrate installs the queue's schema in a PostgreSQL database and upgrades it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/gwsql/gw/internal/hint"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/migrate"
)

// The exit codes of gw-migrate, as its help lists them.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitBehind  = 3
	exitNewer   = 4
	exitChanged = 5
)

// exitError is an error with its exit code.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }
func (e *exitError) Unwrap() error { return e.err }

// run runs the command with args and returns its exit code. Data goes to stdout, everything else to stderr.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	c := &command{getenv: getenv, stdout: stdout, stderr: stderr}
	root := c.root()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)

	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code := exitCode(err)
	fmt.Fprintf(stderr, "gw-migrate: %v\n", hint.For(err))
	if code == exitUsage {
		fmt.Fprintln(stderr, "Run 'gw-migrate --help' for usage.")
	}
	return code
}

// exitCode returns the exit code for err. Errors without an exit code come from parsing the command line.
func exitCode(err error) int {
	if exit, ok := errors.AsType[*exitError](err); ok {
		return exit.code
	}
	return exitUsage
}

// failed returns err with the exit code of a failure, or of a schema that is too new.
func failed(err error) error {
	if refusal, ok := errors.AsType[*migrate.Refusal](err); ok && refusal.Reason == migrate.ReasonNewer {
		return &exitError{exitNewer, err}
	}
	return &exitError{exitFailed, err}
}

// refused returns err with the exit code of wrong usage if the database reports that the arguments are wrong, and otherwise
// like [failed].
func refused(err error) error {
	if sqlstate.ClassOf(sqlstate.Of(err)) == sqlstate.Usage {
		return &exitError{exitUsage, err}
	}
	return failed(err)
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
