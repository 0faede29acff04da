package pgtest

import (
	"fmt"
	"testing"
)

// Example is [Database] for an Example function, which has no testing.TB. It returns the URL of the database and a
// function that drops it. Errors panic, which fails the example.
func Example() (databaseURL string, drop func()) {
	tb := &exampleTB{}
	return Database(tb), tb.finish
}

// exampleTB implements the methods of testing.TB that [Database] uses.
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
