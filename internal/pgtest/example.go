package pgtest

import (
	"fmt"
	"testing"
)

// Example returns the URL of a database as [Database] makes it, for an Example function, which has no testing.TB, and
// what drops it. What goes wrong panics, which fails the example.
func Example() (databaseURL string, drop func()) {
	tb := &exampleTB{}
	return Database(tb), tb.finish
}

// exampleTB is as much of a testing.TB as [Database] uses.
type exampleTB struct {
	testing.TB
	cleanups []func()
}

func (*exampleTB) Helper()                        {}
func (*exampleTB) Fatal(args ...any)              { panic(fmt.Sprint(args...)) }
func (*exampleTB) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }
func (*exampleTB) Errorf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }
func (e *exampleTB) Cleanup(f func())             { e.cleanups = append(e.cleanups, f) }

func (e *exampleTB) finish() {
	for i := len(e.cleanups) - 1; i >= 0; i-- {
		e.cleanups[i]()
	}
}
