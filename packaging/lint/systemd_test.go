package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The program of the unit is not installed where this runs, so another one stands for it.
func TestTheUnitIsWhatSystemdTakesWithoutAWarning(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("systemd is Linux's")
	}
	text, err := os.ReadFile(filepath.Join(root, "packaging/systemd/gw-run.service"))
	if err != nil {
		t.Fatal(err)
	}
	unit := filepath.Join(t.TempDir(), "gw-run.service")
	here := strings.NewReplacer("/usr/bin/gw-run", "/bin/true").Replace(string(text))
	if err := os.WriteFile(unit, []byte(here), 0o644); err != nil {
		t.Fatal(err)
	}
	output, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", unit).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze verify: %v (make deps installs it)\n%s", err, output)
	}
	for line := range strings.Lines(string(output)) {
		if strings.Contains(line, unit) || strings.Contains(line, "gw-run.service") {
			t.Error(line)
		}
	}
}
