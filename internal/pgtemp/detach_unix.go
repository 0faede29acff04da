//go:build unix

package pgtemp

import "syscall"

// detached puts a child into a process group of its own, so that the terminal's Ctrl-C reaches only the starter, which
// decides when its server ends; and hands the child to o, unless o is nil.
func detached(o *owner) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if o != nil {
		attr.Credential = &syscall.Credential{Uid: uint32(o.uid), Gid: uint32(o.gid)}
	}
	return attr
}
