//go:build unix

package task

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup makes the command the leader of a process group, so that signals also reach the processes that it starts,
// and Ctrl-C in the worker's terminal reaches only the worker.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// askGroup asks the command's process group to end.
func askGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) // fails only if the group has no processes
}

// killGroup kills the remaining processes of the command's process group.
func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // fails only if the group has no processes
}

// describe returns how a command ended that did not succeed.
func describe(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return fmt.Sprintf("exit code %d", state.ExitCode())
	}
	signal := status.Signal()
	return fmt.Sprintf("killed by signal %s (%d)", unix.SignalName(signal), int(signal))
}

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
