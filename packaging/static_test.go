package packaging

import (
	"debug/elf"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

var build = flag.Bool("packaging.build", false, "build the programs of the image and look at them, half a minute of work")

// The image has no C library.
func TestTheProgramsOfTheImageNeedNoC(t *testing.T) {
	withoutC(t, "list", "-deps", "./cmd/gw-run", "./cmd/gw-migrate")
}

func TestTheProgramsOfTheImageAreStatic(t *testing.T) {
	if !*build {
		t.Skip("make soak builds them")
	}
	dir := t.TempDir()
	withoutC(t, "build", "-o", dir, "./cmd/gw-run", "./cmd/gw-migrate")
	for _, name := range []string{"gw-run", "gw-migrate"} {
		program, err := elf.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, header := range program.Progs {
			if header.Type == elf.PT_INTERP || header.Type == elf.PT_DYNAMIC {
				t.Errorf("%s is linked dynamically", name)
			}
		}
		if err := program.Close(); err != nil {
			t.Error(err)
		}
	}
}

// withoutC runs the go command as the Dockerfile does.
func withoutC(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", args[0], err, output)
	}
}
