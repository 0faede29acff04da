//go:build unix

package pgtemp

import "syscall"

// detached returns attributes that put a child into a process group of its own, so that Ctrl-C in the terminal does not reach
// the server. If o is not nil, the child runs as that user.
func detached(o *owner) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if o != nil {
		attr.Credential = &syscall.Credential{Uid: uint32(o.uid), Gid: uint32(o.gid)}
	}
	return attr
}
