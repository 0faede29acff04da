// Package shimtest helps to test programs that use [github.com/gwsql/gw/pkg/shim]: what adds jobs, and what works them.
//
// [RequireEnqueued] looks whether a transaction has added a job, [RunDue] has a worker run everything that is due, and
// [Work] calls a handler without any database.
package shimtest

import (
	"context"
	"time"
)

// TB is as much of [testing.TB] as this package uses.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// patience bounds what a call does in the database.
const patience = time.Minute

func limited() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), patience)
}
