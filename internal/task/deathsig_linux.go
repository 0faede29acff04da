package task

import (
	"os/exec"
	"syscall"
)

// dieWithWorker makes the kernel kill the command when the operating system thread that starts it ends, even if the
// worker is killed with SIGKILL. Processes that the command has started are not killed.
func dieWithWorker(cmd *exec.Cmd) {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
}
