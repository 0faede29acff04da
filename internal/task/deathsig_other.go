//go:build !linux

package task

import "os/exec"

// dieWithWorker does nothing: only Linux can tie a child's life to its parent's. The other platforms' children outlive a
// worker that was killed with -9.
func dieWithWorker(*exec.Cmd) {}
