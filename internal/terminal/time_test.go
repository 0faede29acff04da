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

func TestShortTimesAreToldInMilliseconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0.0 ms", 1250 * time.Microsecond: "1.2 ms", 100 * time.Millisecond: "100 ms",
		999999 * time.Microsecond: "999 ms",
		time.Second:               "1.0 s", time.Minute - 1: "59.9 s", time.Minute: "1 m", 3 * time.Hour: "3 h",
	} {
		if got := Elapsed(d); got != want {
			t.Errorf("%s is told as %q, want %q", d, got, want)
		}
	}
}
