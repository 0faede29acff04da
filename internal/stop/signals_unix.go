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

// NotifyHangup relays SIGHUP, which requests that the configuration is read again, to the channel.
func NotifyHangup(hangups chan<- os.Signal) { signal.Notify(hangups, syscall.SIGHUP) }

// Hangup returns SIGHUP, the signal of a closed terminal.
func Hangup() []os.Signal { return []os.Signal{syscall.SIGHUP} }
