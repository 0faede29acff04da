//go:build unix

package pgtemp

import "syscall"

// detached returns attributes that put a child into a process group of its own, so that Ctrl-C in the terminal does not
// reach the server. If o is not nil, the child runs as that user.
func detached(o *owner) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Credential: o.credential()}
}

func (o *owner) credential() *syscall.Credential {
	if o == nil {
		return nil
	}
	return &syscall.Credential{Uid: uint32(o.uid), Gid: uint32(o.gid)}
}

// AsOwner returns attributes with which a child runs as the user of the servers that this process starts, the only one
// that can connect to their sockets.
func AsOwner() (*syscall.SysProcAttr, error) {
	o, err := serverOwner()
	return &syscall.SysProcAttr{Credential: o.credential()}, err
}
