package pgtemp

import "syscall"

// detached keeps the console's Ctrl-C away from a child. There is no root on Windows, hence never an owner.
func detached(*owner) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
