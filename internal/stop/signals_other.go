//go:build !unix

package stop

import (
	"os"
	"syscall"
)

func stopSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

func overlookedSignals() []os.Signal { return []os.Signal{syscall.SIGPIPE} }

// NotifyHangup does nothing: there is no signal that asks to read the configuration again.
func NotifyHangup(chan<- os.Signal) {}

// Hangup is the signal of a terminal that was closed: there is none here.
func Hangup() []os.Signal { return nil }
