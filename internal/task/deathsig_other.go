//go:build !linux

package task

import "os/exec"

// dieWithWorker does nothing, because only Linux can kill a child when its parent ends. On other platforms children
// outlive a worker that is killed with SIGKILL.
func dieWithWorker(*exec.Cmd) {}
