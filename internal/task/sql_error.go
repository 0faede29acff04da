package task

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/pkg/shim"
)

// maxErrorPart is the maximum number of bytes that are stored of a detail, a hint or a context.
const maxErrorPart = 2 << 10

// failed converts an error of the function to the error to store.
func (f *function) failed(err error) error {
	refusal, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	if refusal.Code == "2D000" {
		return shim.Discard(fmt.Errorf(
			"%s commits or rolls back by itself, which it cannot within the transaction that completes its job: %w",
			f.Name, refusal))
	}
	return &databaseError{function: f.Name, PgError: refusal, err: err}
}

// databaseError is an error of PostgreSQL whose text contains its detail, hint and context.
type databaseError struct {
	function string
	*pgconn.PgError
	err error
}

func (e *databaseError) Unwrap() error { return e.err }

func (e *databaseError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (SQLSTATE %s)", e.function, e.Message, e.Code)
	for _, part := range []struct{ name, text string }{
		{"DETAIL", e.Detail}, {"HINT", e.Hint}, {"CONTEXT", e.Where},
	} {
		if part.text != "" {
			fmt.Fprintf(&b, "\n%s: %s", part.name, shortened(part.text))
		}
	}
	return b.String()
}

func shortened(text string) string {
	if len(text) <= maxErrorPart {
		return text
	}
	end := maxErrorPart
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}
