package inspect

import (
	"fmt"
	"testing"
)

func TestProgressHasAtMostOneDecimal(t *testing.T) {
	for progress, want := range map[float64]string{0: "0 %", 41.666668: "41.7 %", 99.96: "100 %", 12.5: "12.5 %"} {
		if got := (Job{Progress: &progress}).Done(); got != want {
			t.Errorf("%v is %q, want %q", progress, got, want)
		}
	}
}

// A zero in a sample is not shown as a zero.
func TestEstimatesAreMarkedAndRounded(t *testing.T) {
	for _, c := range []struct {
		jobs  int64
		scale float64
		want  string
	}{
		{0, 1, "0"}, {97058, 1, "97058"}, {0, 12.3, "<37"}, {25, 12.3, "~25"}, {97058, 12.3, "~97100"},
		{2_905_949, 145, "~2910000"}, {0, 500, "<1500"},
	} {
		if sign, shown := Estimate(c.jobs, c.scale); sign+fmt.Sprint(shown) != c.want {
			t.Errorf("Estimate(%d, %v) is %s%d, want %s", c.jobs, c.scale, sign, shown, c.want)
		}
	}
}
