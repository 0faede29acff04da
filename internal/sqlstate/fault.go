package sqlstate

import (
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// readOnlyState is the SQLSTATE with which a hot standby, or a server set to read-only, refuses every call.
const readOnlyState = "25006"

// IsReadOnly reports whether an error means that the server is read-only, which is logged already.
func IsReadOnly(err error) bool { return Of(err) == readOnlyState }

// IsMistake reports whether the database lacks something that the worker needs: a table, function or privilege (class
// 42), the schema (3F), or a valid plan or prepared statement (0A, 26). Trying again does not help. Errors of a user's
// trigger do not count.
func IsMistake(err error) bool {
	if !In(err, "42", "3F", "0A", "26") {
		return false
	}
	refusal, ok := errors.AsType[*pgconn.PgError](err)
	return !ok || !isFromTrigger(refusal)
}

// IsOvertaken reports whether an error may be due to a migration that was committed before or during the call, so that
// the next call succeeds: it has invalidated a cached plan, which fails once per connection (0A000), or replaced one of
// our functions, so that the old one calls another that does not exist any more (42883).
func IsOvertaken(err error) bool {
	refusal, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (refusal.Code == "0A000" ||
		refusal.Code == "42883" && strings.Contains(refusal.Where, "PL/pgSQL") && !isFromTrigger(refusal))
}

// IsAboutRow reports whether an error may be caused by a single row, which the server cannot read, convert or send: an
// invalid value (22), too little memory (53, but not a full disk or too many connections), a limit (54), or damage
// (XX).
func IsAboutRow(err error) bool {
	return In(err, "22", "53", "54", "XX") && !slices.Contains([]string{"53100", "53300", "53400"}, Of(err))
}

// IsRefusal reports whether the database refused a value that it was sent (22, 23), or its functions did (GW).
func IsRefusal(err error) bool { return In(err, "22", "23", "GW") }

// In reports whether the code of an error is of one of these classes, which are the first two characters of a code.
// Errors without a code, such as lost connections, are of none.
func In(err error, classes ...string) bool {
	state := Of(err)
	return len(state) == 5 && slices.Contains(classes, state[:2])
}

// IsDoubtful reports whether an error is usually transient, such as conflicts of transactions (40) and internal errors
// (XX), but may also be caused by the row and then permanent.
func IsDoubtful(err error) bool { return In(err, "40", "XX") }

// IsRefusedOutcome reports whether the database refused an outcome because of its content, as a trigger may do. Other
// errors are transient ones of the connection (08, 25, 28) and of the server (53, 55, 57, 58, F0), or mistakes.
func IsRefusedOutcome(err error) bool {
	return Of(err) != "" && !In(err, "08", "25", "28", "53", "55", "57", "58", "F0") && !IsMistake(err)
}

// triggerFunction matches a function without arguments in a line of an error's context.
var triggerFunction = regexp.MustCompile(`([\w$]+)"?\(\)`)

// isFromTrigger reports whether an error was raised in a trigger that is not the queue's. Each line of the context
// names a function that was running; the queue's triggers have names with _gw_, and its other functions have arguments.
// The language of these lines depends on the server's settings.
func isFromTrigger(err *pgconn.PgError) bool {
	for line := range strings.Lines(err.Where) {
		if !strings.Contains(line, "PL/") {
			continue
		}
		name := triggerFunction.FindStringSubmatch(line)
		if !strings.Contains(line, "PL/pgSQL") || name != nil && !strings.HasPrefix(name[1], "_gw_") {
			return true
		}
	}
	return false
}

// IsOutage reports whether an error means that a connection was lost or could not be opened because of the network, or
// because the server is stopping, starting or recovering. A timeout of a call does not count: the call may be the
// cause.
func IsOutage(err error) bool {
	state := Of(err)
	if state != "" {
		return In(err, "08") || slices.Contains([]string{"57P01", "57P02", "57P03"}, state)
	}
	if _, ok := errors.AsType[*pgconn.ConnectError](err); ok {
		return true
	}
	if pgconn.Timeout(err) {
		return false
	}
	_, isNetwork := errors.AsType[net.Error](err)
	return isNetwork || pgconn.SafeToRetry(err) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, net.ErrClosed)
}

// IsLostConnection reports whether an error is one that pgx and other drivers return when a connection is lost or
// cannot be opened. Other clients return most of these errors, too, but not all.
func IsLostConnection(err error) bool {
	if _, isConnect := errors.AsType[*pgconn.ConnectError](err); isConnect || Of(err) != "" {
		return IsOutage(err)
	}
	if pgconn.Timeout(err) {
		return false
	}
	if op, isOp := errors.AsType[*net.OpError](err); isOp {
		return op.Op == "read" || op.Op == "write"
	}
	return pgconn.SafeToRetry(err) || slices.ContainsFunc([]error{io.EOF, io.ErrUnexpectedEOF, net.ErrClosed,
		driver.ErrBadConn},
		func(lost error) bool { return errors.Is(err, lost) })
}
