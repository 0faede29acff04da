// Package shimtest helps to test programs that use [github.com/gwsql/gw/pkg/shim], both producers and workers.
//
// [RequireEnqueued] checks whether a transaction has added a job, [RunDue] makes a worker run all due jobs, and [Work]
// calls a handler without a database.
package shimtest

import (
	"context"
	"time"
)

// TB is the part of [testing.TB] that this package uses.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// patience limits the time of a call in the database.
const patience = time.Minute

func limited() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}
