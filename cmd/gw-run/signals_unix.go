//go:build unix

package main

import (
	"os"
	"syscall"
)

func stopSignals() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR2, syscall.SIGABRT}
}

func overlookedSignals() []os.Signal { return []os.Signal{syscall.SIGPIPE, syscall.SIGHUP} }

// hangup is the signal of a terminal that was closed.
func hangup() []os.Signal { return []os.Signal{syscall.SIGHUP} }
