//go:build unix

package pgtest

import "syscall"

// Stop and Continue are the signals that stop a process and let it run on, User2 is one that programs have no use for.
const (
	Stop     = syscall.SIGSTOP
	Continue = syscall.SIGCONT
	User2    = syscall.SIGUSR2
)

// Kill sends a signal to a process, or to a group if pid is negative.
func Kill(pid int, signal syscall.Signal) error { return syscall.Kill(pid, signal) }

// OwnGroup returns attributes that put a child into a process group of its own.
func OwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// MakePipe makes a named pipe.
func MakePipe(path string) error { return syscall.Mkfifo(path, 0o600) }
