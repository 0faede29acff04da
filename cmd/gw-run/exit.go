package main

import (
	"errors"

	"github.com/gwsql/gw/internal/stop"
	"github.com/gwsql/gw/pkg/shim"
)

const (
	exitOK                = 0
	exitFailure           = 1
	exitUsage             = 2
	exitBreakingMigration = 57  // Graphile Worker's number
	exitSignal            = 128 // and the number of the signal
)

// usageError is a mistake in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// exitCode returns the exit code that tells err.
func exitCode(err error) int {
	var usage usageError
	var stopped stop.SignalError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, shim.ErrBreakingMigration):
		return exitBreakingMigration
	case errors.As(err, &stopped):
		return exitSignal + int(stopped.Signal)
	default:
		return exitFailure
	}
}
