//go:build unix

package stop

import (
	"os"
	"os/signal"
	"syscall"
)

func stopSignals() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR2, syscall.SIGABRT}
}

func overlookedSignals() []os.Signal { return []os.Signal{syscall.SIGPIPE, syscall.SIGHUP} }

// NotifyHangup passes on SIGHUP, which asks to read the configuration again.
func NotifyHangup(hangups chan<- os.Signal) { signal.Notify(hangups, syscall.SIGHUP) }

// Hangup is the signal of a terminal that was closed.
func Hangup() []os.Signal { return []os.Signal{syscall.SIGHUP} }
