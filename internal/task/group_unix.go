//go:build unix

package task

import (
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
