package packaging

import (
	"debug/elf"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// Built as in the Dockerfile, they need no C library of the image.
func TestTheProgramsOfTheImageAreStatic(t *testing.T) {
	for _, name := range []string{"gw-run", "gw-migrate"} {
		program, err := elf.Open(pgtest.Program(t, name))
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
