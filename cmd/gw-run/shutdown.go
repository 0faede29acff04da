package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// shutdown collects the reasons to stop: signals, and output that nobody reads any more.
type shutdown struct {
	signals chan os.Signal
	broken  chan struct{}
}

func newShutdown() *shutdown {
	return &shutdown{signals: make(chan os.Signal, 2), broken: make(chan struct{}, 1)}
}

// watch returns a writer to w that takes note when nobody reads it any more.
func (s *shutdown) watch(w io.Writer) io.Writer { return watchedWriter{w, s.broken} }

type watchedWriter struct {
	io.Writer
	broken chan<- struct{}
}

// Unwrap lets whoever draws see whether this is a terminal.
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

// begin takes over the signals that stop a worker, until release is called. The first reason to stop ends gentle, with a
// [signalError] as its cause; a signal after that ends hard. Broken output is no second reason: in a pipeline it often
// comes along with the signal.
func (s *shutdown) begin(ctx context.Context, more ...os.Signal) (gentle, hard context.Context, release func()) {
	gentle, endGentle := context.WithCancelCause(ctx)
	hard, endHard := context.WithCancel(ctx)

	// Caught rather than ignored, because children would inherit that. SIGPIPE must not kill us, so that writing fails;
	// SIGHUP asks a worker to read its crontab again, and must not kill what has none. They stay caught after release, for
	// there may be a last error to tell.
	overlooked := make(chan os.Signal, 1)
	signal.Notify(overlooked, overlookedSignals()...)
	signal.Notify(s.signals, append(stopSignals(), more...)...)

	done := make(chan struct{})
	go func() {
		select {
		case received := <-s.signals:
			endGentle(reason(received))
		case <-s.broken:
			endGentle(signalError{syscall.SIGPIPE})
		case <-done:
			return
		}
		select {
		case <-s.signals:
			endHard()
		case <-done:
		}
	}()
	return gentle, hard, func() {
		signal.Stop(s.signals)
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
	return signalError{number}
}
