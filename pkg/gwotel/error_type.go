package gwotel

import (
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"

	"github.com/gwsql/gw/internal/guard"
	"github.com/gwsql/gw/internal/sqlstate"
)

// errorType returns the attribute error.type, which has few values: the SQLSTATE of an error of the database, otherwise
// the type of the innermost error.
func errorType(err error) attribute.KeyValue {
	if code := guard.Ask("", func() string { return sqlstate.Of(err) }); code != "" {
		return attribute.String("error.type", code)
	}
	innermost := func() error {
		inner := err
		for next := errors.Unwrap(inner); next != nil; next = errors.Unwrap(inner) {
			inner = next
		}
		return inner
	}
	return attribute.String("error.type", fmt.Sprintf("%T", guard.Ask(err, innermost)))
}
