package harness

import (
	"io"
	"strings"
	"testing"
)

func TestContendersTakeTurns(t *testing.T) {
	all := []string{"a", "b", "c"}
	if got := strings.Join(Turns(0, all), "") + strings.Join(Turns(1, all), "") + strings.Join(Turns(2, all), ""); got != "abccbaabc" {
		t.Errorf("the order is %s", got)
	}
}

func TestWrongFlagsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"-run", "("}, {"-rounds", "0"}, {"claim"}, {"-nonsense"}} {
		if code := (Program[*Bench]{}).Run(t.Context(), args, io.Discard, io.Discard); code != ExitUsage {
			t.Errorf("%q ends with %d, want %d", args, code, ExitUsage)
		}
	}
}
