package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// The program of the units is not installed where this runs, so another one stands for it.
func TestTheUnitsAreWhatSystemdTakesWithoutAWarning(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("systemd is Linux's")
	}
	for _, name := range []string{"gw-run.service", "gw-run@.service"} {
		unit := filepath.Join(t.TempDir(), name)
		here := strings.ReplaceAll(read(t, "packaging/systemd/"+name), "/usr/bin/gw-run", "/bin/true")
		if err := os.WriteFile(unit, []byte(here), 0o644); err != nil {
			t.Fatal(err)
		}
		output, err := exec.CommandContext(t.Context(), "systemd-analyze", "verify", unit).CombinedOutput()
		if err != nil {
			t.Errorf("systemd-analyze verify: %v (make deps installs it)\n%s", err, output)
		}
		for line := range strings.Lines(string(output)) {
			if strings.Contains(line, unit) || strings.Contains(line, "gw-run") {
				t.Error(line)
			}
		}
	}
}

func TestTheUnitOfAnInstanceDiffersByItsNameOnly(t *testing.T) {
	one, each := settings(t, "gw-run.service"), settings(t, "gw-run@.service")
	if want := strings.Replace(one, "/etc/gw-run/env", "/etc/gw-run/%i.env", 1); each != want {
		t.Errorf("gw-run@.service is\n%s\nwant\n%s", each, want)
	}
}

// settings returns the settings of a unit without its description.
func settings(t *testing.T, unit string) string {
	t.Helper()
	var b strings.Builder
	for line := range strings.Lines(read(t, "packaging/systemd/"+unit)) {
		if !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "Description=") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// read returns the text of a file of the repository.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
