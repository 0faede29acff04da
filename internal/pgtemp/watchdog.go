package pgtemp

import (
	"fmt"
	"io"
	"os/exec"
	"runtime"
)

// A watchdog cleans up after this process should it end without doing so itself: killed, panicking, or by os.Exit. It is
// a shell that reads from a pipe held by us. A word on it is the dismissal; the end of it means that we are gone.
type watchdog struct {
	cmd  *exec.Cmd
	line io.WriteCloser
}

// startWatchdog starts a watchdog that runs script, with args as $1, $2 and so on, when this process has gone.
// On Windows, which has no sh, it does nothing.
func startWatchdog(script string, args ...string) (*watchdog, error) {
	if runtime.GOOS == "windows" {
		return nil, nil
	}
	cmd := exec.Command("sh", append([]string{"-c", "read -r word && exit 0\n" + script, "gw-watchdog"}, args...)...)
	cmd.Dir = "/" // keep no folder of the user's busy
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
		return fmt.Errorf("dismiss the watchdog: %w", err)
	}
	if err := w.cmd.Wait(); err != nil {
		return fmt.Errorf("dismiss the watchdog: %w", err)
	}
	return nil
}
