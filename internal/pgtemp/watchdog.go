package pgtemp

import (
	"fmt"
	"io"
	"os/exec"
	"runtime"
)

// A watchdog cleans up if this process ends without cleaning up itself: because it was killed, panicked, or called
// os.Exit. It is a shell that reads from a pipe of this process. A word on the pipe ends it without clean-up; the end
// of the pipe means that this process has ended.
type watchdog struct {
	cmd  *exec.Cmd
	line io.WriteCloser
}

// startWatchdog starts a watchdog that runs script, with args as $1, $2 and so on, when this process has ended. It does
// nothing on Windows, which has no sh.
func startWatchdog(script string, args ...string) (*watchdog, error) {
	if runtime.GOOS == "windows" {
		return nil, nil
	}
	cmd := exec.Command("sh", append([]string{"-c", "read -r word && exit 0\n" + script, "gw-watchdog"}, args...)...)
	cmd.Dir = "/" // do not keep a folder of the user in use
	cmd.SysProcAttr = detached(nil)
	line, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the watchdog: %w", err)
	}
	return &watchdog{cmd, line}, nil
}

// dismiss ends the watchdog without its clean-up.
func (w *watchdog) dismiss() error {
	if w == nil {
		return nil
	}
	if _, err := io.WriteString(w.line, "dismissed\n"); err != nil {
		return fmt.Errorf("stop the watchdog: %w", err)
	}
	if err := w.cmd.Wait(); err != nil {
		return fmt.Errorf("stop the watchdog: %w", err)
	}
	return nil
}
