package packaging

import (
	"os"
	"os/exec"
	"testing"
)

// The image has no C library.
func TestTheProgramsOfTheImageNeedNoC(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "./cmd/gw-run", "./cmd/gw-migrate")
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux") // as in the Dockerfile
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go list: %v\n%s", err, output)
	}
}
