package task

import (
	"os/exec"
	"syscall"
)

// dieWithWorker has the kernel kill the command when the operating system thread that starts it ends, the worker's
// death by kill -9 included. What the command has started by itself is not reached.
func dieWithWorker(cmd *exec.Cmd) {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}
