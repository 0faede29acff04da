package cli

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/internal/stop"
	"github.com/gwsql/gw/pkg/shim"
)

const (
	ExitOK                = 0
	ExitFailure           = 1
	ExitUsage             = 2
	exitBreakingMigration = 57  // Graphile Worker's number
	ExitSignal            = 128 // plus the number of the signal
)

// usageError is an error in the command line.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// AsUsage returns err as an error in the command line, whose exit code is [ExitUsage]; nil for nil.
func AsUsage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// Usagef returns an error in the command line with a formatted message.
func Usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// ExitCode returns the exit code for err.
func ExitCode(err error) int {
	var usage usageError
	var stopped stop.SignalError
	switch {
	case err == nil:
		return ExitOK
	case errors.As(err, &usage):
		return ExitUsage
	case errors.Is(err, shim.ErrBreakingMigration):
		return exitBreakingMigration
	case errors.As(err, &stopped):
		return ExitSignal + int(stopped.Signal)
	default:
		return ExitFailure
	}
}

// Explain adds the hint of one of the queue's own errors to its message, and makes one about arguments an error in
// the command line.
func Explain(err error) error {
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) {
		return err
	}
	isOurs, text := sqlstate.IsOurs(refusal.Code), refusal.Message
	if isOurs && refusal.Hint != "" {
		text += " " + refusal.Hint
	}
	switch class := sqlstate.ClassOf(refusal.Code); {
	case class == sqlstate.Usage:
		return usageError{errors.New(text)}
	case class == sqlstate.NotFound:
		return fmt.Errorf("%w; gw-migrate installs and upgrades the queue", err)
	case class == sqlstate.NotGranted:
		return fmt.Errorf("%w; gw-migrate grants gives a role the privileges to add or run jobs, or to use these commands", err)
	case isOurs:
		return errors.New(text)
	}
	return err
}
