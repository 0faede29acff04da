// Package stop determines when a command has to stop: on a signal, or when its output is closed.
package stop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Reasons collects the reasons to stop: signals, and broken output, whose reader is gone. Make it with [New].
type Reasons struct {
	signals chan os.Signal
	broken  chan struct{}
}

// New returns Reasons without a reason.
func New() *Reasons {
	return &Reasons{signals: make(chan os.Signal, 2), broken: make(chan struct{}, 1)}
}

// Watch returns a writer to w. If the reader of w is gone, that is a reason to stop.
func (r *Reasons) Watch(w io.Writer) io.Writer { return watchedWriter{w, r.broken} }

type watchedWriter struct {
	io.Writer
	broken chan<- struct{}
}

// Unwrap returns the writer, so that callers can find out whether it is a terminal.
func (w watchedWriter) Unwrap() any { return w.Writer }

func (w watchedWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.EIO) { // EIO: the terminal was closed
		select {
		case w.broken <- struct{}{}:
		default:
		}
	}
	return n, err
}

// Begin handles the signals that stop a program, and those of more, until release is called. The first reason to stop
// cancels gentle, with a [SignalError] as its cause; a signal after that cancels hard. Broken output does not count as
// a second reason, because in a pipeline it often comes together with the signal.
func (r *Reasons) Begin(ctx context.Context, more ...os.Signal) (gentle, hard context.Context, release func()) {
	gentle, endGentle := context.WithCancelCause(ctx)
	hard, endHard := context.WithCancel(ctx)

	// These signals are caught and not ignored, because children would inherit ignored signals. Without SIGPIPE writing
	// fails instead of ending the process. SIGHUP makes a worker read its files again, and must not end a command
	// without files. They remain caught after release, because an error may still have to be printed.
	overlooked := make(chan os.Signal, 1)
	signal.Notify(overlooked, overlookedSignals()...)
	signal.Notify(r.signals, append(stopSignals(), more...)...)

	done := make(chan struct{})
	go func() {
		select {
		case received := <-r.signals:
			endGentle(reason(received))
		case <-r.broken:
			endGentle(SignalError{syscall.SIGPIPE})
		case <-done:
			return
		}
		select {
		case <-r.signals:
			endHard()
		case <-done:
		}
	}()
	return gentle, hard, func() {
		signal.Stop(r.signals)
		close(done)
		endGentle(nil)
		endHard()
	}
}

func reason(received os.Signal) error {
	number, ok := received.(syscall.Signal)
	if !ok {
		return errors.New("stopped by " + received.String())
	}
	return SignalError{number}
}

// Explain returns err with the reason why ctx ended, if there are both.
func Explain(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("%w: %w", context.Cause(ctx), err)
}

// SignalError is the reason of a stop by a signal.
type SignalError struct{ Signal syscall.Signal }

func (e SignalError) Error() string {
	return fmt.Sprintf("stopped by signal %d (%s)", int(e.Signal), e.Signal)
}
