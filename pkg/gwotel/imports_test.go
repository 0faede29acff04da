package gwotel_test

import (
	"os/exec"
	"strings"
	"testing"
)

func TestThePackageNeedsTheAPIOfOpenTelemetryAlone(t *testing.T) {
	output, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	imports := string(output)
	if !strings.Contains(imports, "go.opentelemetry.io/otel\n") ||
		strings.Contains(imports, "go.opentelemetry.io/otel/sdk") {
		t.Errorf("it imports\n%s", imports)
	}
}
