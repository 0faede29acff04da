//go:build !unix

package task

import (
	"fmt"
	"os"
	"os/exec"
)

// ownGroup does nothing, because this system has no process groups.
func ownGroup(*exec.Cmd) {}

// askGroup kills the command, because this system has no signal that asks it to end.
func askGroup(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // fails only when it has ended
}

func killGroup(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // fails only when it has ended
}

// describe returns how a command ended that did not succeed.
func describe(state *os.ProcessState) string {
	return fmt.Sprintf("exit code %d", state.ExitCode())
}

// lockFolder does nothing: there are no locks of folders.
func lockFolder(string, bool) (*os.File, error) { return nil, nil }
