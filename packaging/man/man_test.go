package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestEachCommandHasAPageThatManShowsWithoutAWarning(t *testing.T) {
	t.Setenv("GRAPHILE_WORKER_SCHEMA", "mine")
	folder := t.TempDir()
	if err := write(folder); err != nil {
		t.Fatal(err)
	}
	for page, parts := range map[string][]string{
		"gw-run": {
			`\fB-j\fP, \fB--jobs\fP=NUMBER`, "number of jobs to run at once (default 1)", "\\fB--once\\fP\n", `\fB--ui\fP[=ADDRESS]`,
			"\n.EX\n  DATABASE_URL   ", "begin with GRAPHILE_WORKER_", `{"payload":...}`, "gw-run-jobs(1)",
		},
		"gw-run-limit-set": {"Create or change a limit", "payload:FIELD", "--by payload:tenant --fair"},
		"gw-migrate-up":    {"OPTIONS INHERITED FROM PARENT COMMANDS", "(default graphile_worker)"},
		"gw-migrate":       {"SEE ALSO"},
	} {
		text, err := os.ReadFile(filepath.Join(folder, page+".1"))
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s.1 does not contain %q", page, part)
			}
		}
		if strings.Contains(string(text), "__commands") {
			t.Errorf("%s.1 has the hidden command", page)
		}
	}
	pages, err := filepath.Glob(filepath.Join(folder, "*.1"))
	if err != nil || len(pages) < 50 {
		t.Fatalf("there are %d pages, error %v", len(pages), err)
	}
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed, which man uses")
	}
	output, err := exec.CommandContext(t.Context(), "groff", append([]string{"-man", "-ww", "-Tutf8", "-Kutf8", "-z"}, pages...)...).CombinedOutput()
	if err != nil || len(output) > 0 {
		t.Errorf("groff: %v\n%s", err, output)
	}
}
