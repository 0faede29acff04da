//go:build !unix

package main

import (
	"os"
	"syscall"
)

func stopSignals() []os.Signal { return []os.Signal{os.Interrupt, syscall.SIGTERM} }

func overlookedSignals() []os.Signal { return []os.Signal{syscall.SIGPIPE} }

// notifyHangup does nothing: there is no signal that asks to read the configuration again.
func notifyHangup(chan<- os.Signal) {}

// hangup is the signal of a terminal that was closed: there is none here.
func hangup() []os.Signal { return nil }
