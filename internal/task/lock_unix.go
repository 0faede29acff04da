//go:build unix

package task

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// lockFolder locks a folder of this user until the result is closed or the process has ended, alone or together with
// others. It does not wait. Where folders cannot be locked, as on some network file systems, the result is nil.
func lockFolder(path string, alone bool) (*os.File, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: path, Err: err}
	}
	folder := os.NewFile(uintptr(fd), path)
	how := unix.LOCK_SH
	if alone {
		how = unix.LOCK_EX
	}
	switch err := unix.Flock(fd, how|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		_ = folder.Close()
		return nil, err
	case err != nil:
		_ = folder.Close()
		return nil, nil
	}
	return folder, nil
}
