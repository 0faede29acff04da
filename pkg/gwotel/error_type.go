package gwotel

import (
	"errors"
	"fmt"

	"go.opentelemetry.io/otel/attribute"

	"github.com/gwsql/gw/internal/sqlstate"
)

// errorType returns the attribute error.type, which has few values: the SQLSTATE of an error of the database, otherwise
// the type of the innermost error.
func errorType(err error) attribute.KeyValue {
	if code := sqlstate.Of(err); code != "" {
		return attribute.String("error.type", code)
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return attribute.String("error.type", fmt.Sprintf("%T", err))
}
