//go:build !unix

package task

import (
	"fmt"
	"os"
	"os/exec"
)

// ownGroup does nothing: there are no process groups here.
func ownGroup(*exec.Cmd) {}

// askGroup kills the command: there is no way to ask it here.
func askGroup(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // fails only when it has ended
}

// killGroup kills the command.
func killGroup(cmd *exec.Cmd) {
	_ = cmd.Process.Kill() // fails only when it has ended
}

// describe says how a command that did not succeed has ended.
func describe(state *os.ProcessState) string {
	return fmt.Sprintf("exit code %d", state.ExitCode())
}
