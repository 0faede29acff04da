// Package settings runs the queue in databases whose settings are unusual, and in those whose settings forbid its work.
package settings

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// run runs gw-run or gw-migrate.
func run(t *testing.T, url, program string, args ...string) (output string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), pgtest.Program(t, program), args...)
	cmd.Env = append(os.Environ(), "DATABASE_URL="+url)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// must is run for what must succeed.
func must(t *testing.T, url, program string, args ...string) string {
	t.Helper()
	output, err := run(t, url, program, args...)
	if err != nil || strings.Contains(output, "panic:") || strings.Contains(output, "goroutine ") {
		t.Errorf("%s %s: %v: %s", program, strings.Join(args, " "), err, output)
	}
	return output
}
