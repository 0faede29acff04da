package shim

import (
	"os"
	ossignal "os/signal"
	"syscall"
)

// handleSignals makes the first signal call Stop and the second one Kill, until release is called.
func (w *Worker) handleSignals() (release func()) {
	signals := make(chan os.Signal, 2)
	ossignal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		for _, react := range []func(){w.stop, w.Kill} {
			select {
			case received := <-signals:
				w.ownLogger().Info("stop requested", "signal", received.String())
				react()
			case <-done:
				return
			}
		}
	}()
	return func() {
		ossignal.Stop(signals)
		close(done)
	}
}
