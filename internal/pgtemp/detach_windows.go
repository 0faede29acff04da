package pgtemp

import "syscall"

// detached returns attributes with which Ctrl-C in the console does not reach a child. The owner is always nil, because
// there is no root on Windows.
func detached(*owner) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// AsOwner returns no attributes.
func AsOwner() (*syscall.SysProcAttr, error) { return nil, nil }
