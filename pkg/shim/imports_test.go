package shim_test

import (
	"os/exec"
	"strings"
	"testing"
)

func TestThePackageBringsAlongNothingThatOnlySomeProgramsWant(t *testing.T) {
	output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(output), "github.com/jackc/pgx/v5\n") {
		t.Fatalf("the list of what the package imports is\n%s", output)
	}
	for _, path := range strings.Fields(string(output)) {
		for _, foreign := range []string{"prometheus", "opentelemetry", "jackc/tern", "spf13", "gw/pkg/gwprom",
			"gw/pkg/gwotel", "gw/pkg/shimtest"} {
			if strings.Contains(path, foreign) {
				t.Errorf("it imports %s", path)
			}
		}
	}
}
