// Package guard calls what the program of a user has given to a library: its functions, the methods of its errors, its
// logger. Any of them may panic or end its goroutine, which must not end the library's goroutines or the process.
package guard

import (
	"errors"
	"fmt"
)

// errExited is the fault of a function that has called runtime.Goexit.
var errExited = errors.New("it ended its goroutine")

// Call calls fn in a goroutine of its own, which fn may end, and returns why it has not returned, nil if it has.
func Call(fn func()) (fault error) {
	done := make(chan error, 1)
	go func() {
		fault := errExited
		defer func() { done <- fault }()
		defer func() {
			if v := recover(); v != nil {
				fault = errors.New(Value(v))
			}
		}()
		fn()
		fault = nil
	}()
	return <-done
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
	return err != nil && Ask(false, func() bool { return errors.Is(err, target) })
}

// As is [errors.AsType], or false if a method of err does not return.
func As[E error](err error) (found E, ok bool) {
	if err == nil {
		return found, false
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
