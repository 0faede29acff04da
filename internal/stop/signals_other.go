//go:build !unix

package stop

import (
	"os"
	"syscall"
)

func stopSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

func overlookedSignals() []os.Signal { return []os.Signal{syscall.SIGPIPE} }

// NotifyHangup does nothing, because this system has no signal for reading the configuration again.
func NotifyHangup(chan<- os.Signal) {}

// Hangup returns no signal, because this system has none for a closed terminal.
func Hangup() []os.Signal { return nil }
