//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

func stopSignals() []os.Signal {
	return []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGUSR2, syscall.SIGABRT}
}

func overlookedSignals() []os.Signal { return []os.Signal{syscall.SIGPIPE, syscall.SIGHUP} }

// notifyHangup passes on SIGHUP, which asks to read the configuration again.
func notifyHangup(hangups chan<- os.Signal) { signal.Notify(hangups, syscall.SIGHUP) }

// hangup is the signal of a terminal that was closed.
func hangup() []os.Signal { return []os.Signal{syscall.SIGHUP} }
