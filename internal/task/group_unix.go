//go:build unix

package task

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// ownGroup makes the command the leader of a process group, so that a signal reaches what it starts as well, and so
// that Ctrl-C in the worker's terminal does not end jobs behind the worker's back.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
}

// askGroup asks the command's process group to end.
func askGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) // fails only when nobody is left
}

// killGroup ends what is left of the command's process group.
func killGroup(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // fails only when nobody is left
}

// describe says how a command that did not succeed has ended.
func describe(state *os.ProcessState) string {
	status, ok := state.Sys().(syscall.WaitStatus)
	if !ok || !status.Signaled() {
		return fmt.Sprintf("exit code %d", state.ExitCode())
	}
	signal := status.Signal()
	return fmt.Sprintf("killed by signal %s (%d)", unix.SignalName(signal), int(signal))
}
