// Package guard calls what the program of a user has given to a library: its functions, the methods of its errors, its
// logger. Any of them may panic or end its goroutine, which must not end the library's goroutines or the process.
package guard

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"reflect"
	"sync"
)

// errExited is the fault of a function that has called runtime.Goexit.
var errExited = errors.New("it ended its goroutine")

// Call calls fn in a goroutine of its own, which fn may end, and returns why it has not returned, nil if it has.
func Call(fn func()) (fault error) {
	done := make(chan error, 1)
	go func() {
		fault := errExited
		defer func() { done <- fault }()
		fault = recovered(fn)
	}()
	return <-done
}

// recovered calls fn in this goroutine, and returns why it has panicked.
func recovered(fn func()) (fault error) {
	defer func() {
		if v := recover(); v != nil {
			fault = errors.New(Value(v))
		}
	}()
	fn()
	return nil
}

var typeOfNew, typeOfErrorf = reflect.TypeOf(errExited), reflect.TypeOf(fmt.Errorf("%w", errExited))

// isStandard reports whether err and all that it wraps are of errors.New and fmt.Errorf, so that their methods return.
func isStandard(err error) bool {
	for range mostDepth {
		switch reflect.TypeOf(err) {
		case typeOfNew:
			return true
		case typeOfErrorf:
			err = errors.Unwrap(err)
		default:
			return false
		}
	}
	return false
}

// Value returns the text of a value that was recovered from a panic. Its methods, too, may panic.
func Value(v any) (text string) {
	text = fmt.Sprintf("a value of type %T, which cannot be printed", v)
	defer func() { _ = recover() }()
	return fmt.Sprint(v)
}

// Ask returns what fn returns, or otherwise if fn does not return.
func Ask[T any](otherwise T, fn func() T) T {
	answer := otherwise
	_ = Call(func() { answer = fn() })
	return answer
}

// Is is [errors.Is], or false if a method of err does not return.
func Is(err, target error) bool {
	if isStandard(err) {
		return errors.Is(err, target)
	}
	return err != nil && Ask(false, func() bool { return errors.Is(err, target) })
}

// As is [errors.AsType], or false if a method of err does not return.
func As[E error](err error) (found E, ok bool) {
	if err == nil {
		return found, false
	}
	if isStandard(err) {
		return errors.AsType[E](err)
	}
	ok = Ask(false, func() bool {
		var matches bool
		found, matches = errors.AsType[E](err)
		return matches
	})
	return found, ok
}

// Text returns the text of err. If it cannot be printed, the text says so, and names the type of the innermost error
// that is the cause.
func Text(err error) string {
	text, fault := printed(err)
	if fault == nil {
		return text
	}
	err, fault = culprit(err, fault, mostDepth)
	return fmt.Sprintf("the error of type %T cannot be printed: %v", err, fault)
}

// mostDepth is the depth to which errors are unwrapped, since they may wrap themselves.
const mostDepth = 20

func printed(err error) (text string, fault error) {
	if isStandard(err) {
		return err.Error(), nil
	}
	fault = Call(func() { text = err.Error() })
	return text, fault
}

// culprit returns the innermost error in err that cannot be printed; fault is why err cannot.
func culprit(err, fault error, depth int) (error, error) {
	var within []error
	_ = Call(func() {
		switch wrapper := err.(type) {
		case interface{ Unwrap() error }:
			within = []error{wrapper.Unwrap()}
		case interface{ Unwrap() []error }:
			within = wrapper.Unwrap()
		}
	})
	for _, inner := range within {
		if inner == nil || depth == 0 {
			continue
		}
		if _, its := printed(inner); its != nil {
			return culprit(inner, its, depth-1)
		}
	}
	return err, fault
}

// Logger returns a logger that writes to the same handler and outlives its panics: the line is lost, and the first
// panic is reported on stderr.
func Logger(logger *slog.Logger) *slog.Logger {
	if _, isGuarded := logger.Handler().(*handler); isGuarded {
		return logger
	}
	return slog.New(&handler{next: logger.Handler(), once: new(sync.Once)})
}

type handler struct {
	next slog.Handler
	once *sync.Once // for all handlers that were made of one
}

func (h *handler) report(fault error) {
	if fault != nil {
		h.once.Do(func() {
			fmt.Fprintf(os.Stderr, "gw: log lines are lost, because the slog.Handler %T does not return: %s\n", h.next,
				fault)
		})
	}
}

// Enabled is called for each job, so it does not use Call, which starts a goroutine.
func (h *handler) Enabled(ctx context.Context, level slog.Level) (enabled bool) {
	h.report(recovered(func() { enabled = h.next.Enabled(ctx, level) }))
	return enabled
}

func (h *handler) Handle(ctx context.Context, record slog.Record) (err error) {
	h.report(Call(func() { err = h.next.Handle(ctx, record) }))
	return err
}

func (h *handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return h.with(func() slog.Handler { return h.next.WithAttrs(attrs) })
}

func (h *handler) WithGroup(name string) slog.Handler {
	return h.with(func() slog.Handler { return h.next.WithGroup(name) })
}

// with returns the handler that derive makes of the next one, or h itself if derive panics or returns none.
func (h *handler) with(derive func() slog.Handler) (derived slog.Handler) {
	derived = h
	h.report(Call(func() {
		if next := derive(); next != nil {
			derived = &handler{next: next, once: h.once}
		}
	}))
	return derived
}
