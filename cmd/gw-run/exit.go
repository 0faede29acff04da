package main

import (
	"errors"
	"fmt"
	"syscall"

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

// signalError is the reason of a stop that was asked for by a signal.
type signalError struct{ signal syscall.Signal }

func (e signalError) Error() string {
	return fmt.Sprintf("stopped by signal %d (%s)", int(e.signal), e.signal)
}

// exitCode returns the exit code that tells err.
func exitCode(err error) int {
	var usage usageError
	var stop signalError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, shim.ErrBreakingMigration):
		return exitBreakingMigration
	case errors.As(err, &stop):
		return exitSignal + int(stop.signal)
	default:
		return exitFailure
	}
}
