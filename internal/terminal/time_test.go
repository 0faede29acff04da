package terminal

import (
	"testing"
	"time"
)

func TestTimesAreToldAsSeenFromNow(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for distance, want := range map[time.Duration]string{
		0:                               "now",
		999 * time.Millisecond:          "now",
		-999 * time.Millisecond:         "now",
		time.Second:                     "in 1 s",
		-59*time.Second - 1:             "59 s ago",
		60 * time.Second:                "in 1 m",
		-2*time.Hour + 1:                "119 m ago",
		2 * time.Hour:                   "in 2 h",
		48*time.Hour - 1:                "in 47 h",
		-48 * time.Hour:                 "2 d ago",
		400*24*time.Hour + 23*time.Hour: "in 400 d",
	} {
		if got := Relative(now.Add(distance), now); got != want {
			t.Errorf("%s from now is %q, want %q", distance, got, want)
		}
	}
}
