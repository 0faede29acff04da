//go:build !unix

package pgtest

import (
	"errors"
	"syscall"
)

// The tests that stop processes compile everywhere and fail elsewhere than on Unix.
const (
	Stop = syscall.Signal(-1 - iota)
	Continue
	User2
)

func Kill(int, syscall.Signal) error { return errors.ErrUnsupported }

func OwnGroup() *syscall.SysProcAttr { return nil }

func MakePipe(string) error { return errors.ErrUnsupported }
