package guard_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/guard"
)

type broken struct{ fail func() }

func (b *broken) Error() string   { b.fail(); return "" }
func (b *broken) Is(error) bool   { b.fail(); return true }
func (b *broken) As(any) bool     { b.fail(); return true }
func (b *broken) Unwrap() []error { b.fail(); return nil }

// loop wraps itself.
type loop struct{ broken }

func (l *loop) Unwrap() error { return l }

func TestNoMethodOfAnErrorEndsTheCaller(t *testing.T) {
	panics := &broken{func() { panic("boom") }}
	exits := &broken{runtime.Goexit}
	var none *broken
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"a panic":     {panics, "the error of type *guard_test.broken cannot be printed: boom"},
		"the end":     {exits, "the error of type *guard_test.broken cannot be printed: it ended its goroutine"},
		"a typed nil": {none, "the error of type *guard_test.broken cannot be printed: runtime error: invalid memory address or nil pointer dereference"},
		"one that is joined": {errors.Join(fs.ErrExist, panics),
			"the error of type *guard_test.broken cannot be printed: boom"},
		"one that wraps itself": {&loop{*panics}, "the error of type *guard_test.loop cannot be printed: boom"},
		"a panic with an error": {&broken{func() { panic(panics) }},
			"the error of type *guard_test.broken cannot be printed: %!v(PANIC=Error method: boom)"},
		"a panic twice": {&broken{func() { panic(&broken{func() { panic(panics) }}) }},
			"the error of type *guard_test.broken cannot be printed: a value of type *guard_test.broken, which cannot be printed"},
		"a sound one": {fmt.Errorf("a: %w", fs.ErrExist), "a: file already exists"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := guard.Text(c.err); got != c.want {
				t.Errorf("the text is %q, want %q", got, c.want)
			}
			if strings.Contains(name, "itself") {
				return
			}
			if guard.Is(c.err, fs.ErrNotExist) {
				t.Error("it is another error")
			}
			if found, ok := guard.As[*fs.PathError](c.err); ok {
				t.Errorf("it is %v", found)
			}
		})
	}
}

// brokenLog panics in the method with this name, or ends its goroutine if exits is set.
type brokenLog struct {
	in    string
	exits bool
}

func (b brokenLog) fail(where string) {
	if b.in == where && b.exits {
		runtime.Goexit()
	}
	if b.in == where {
		panic(where)
	}
}
func (b brokenLog) Enabled(context.Context, slog.Level) bool { b.fail("Enabled"); return true }
func (b brokenLog) Handle(context.Context, slog.Record) error {
	b.fail("Handle")
	return nil
}
func (b brokenLog) WithAttrs([]slog.Attr) slog.Handler { b.fail("WithAttrs"); return b }
func (b brokenLog) WithGroup(string) slog.Handler      { b.fail("WithGroup"); return nil }

func TestALoggerOutlivesItsHandler(t *testing.T) {
	for _, method := range []string{"Enabled", "Handle", "WithAttrs", "WithGroup", ""} {
		for _, exits := range []bool{false, method != "Enabled"} {
			logger := guard.Logger(guard.Logger(slog.New(brokenLog{method, exits})))
			logger.With("a", 1).WithGroup("b").Info("c", "d", 2)
		}
	}
}

// exits is a writer that ends the goroutine in which it is called.
type exits struct{}

func (exits) Write([]byte) (int, error) {
	runtime.Goexit()
	return 0, nil
}

func TestALineOfAHandlerWhoseWriterEndsItsGoroutineIsLostAlone(t *testing.T) {
	t.Parallel()
	ended := make(chan bool, 1)
	go func() {
		defer func() { ended <- false }()
		guard.Logger(slog.New(slog.NewTextHandler(exits{}, nil))).Info("a line")
		ended <- true
	}()
	if goesOn := <-ended; !goesOn {
		t.Error("the caller of the logger has ended")
	}
}
