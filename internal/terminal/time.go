package terminal

import (
	"fmt"
	"time"

	"github.com/gwsql/gw/internal/seconds"
)

// Relative formats a time relative to now: "now", "in 5 m", "3 h ago".
func Relative(t, now time.Time) string {
	switch distance := t.Sub(now); {
	case distance >= time.Second:
		return "in " + Duration(distance)
	case distance <= -time.Second:
		return Duration(-distance) + " ago"
	default:
		return "now"
	}
}

// Duration formats a duration in one unit, rounded down: hours from two hours on, days from two days on, otherwise
// minutes or seconds.
func Duration(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < 2*time.Hour:
		return fmt.Sprintf("%d m", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", d/time.Hour)
	default:
		return fmt.Sprintf("%d d", d/(24*time.Hour))
	}
}

// Elapsed formats how long something took: below a minute in milliseconds or seconds with one decimal, otherwise as
// [Duration].
func Elapsed(d time.Duration) string {
	switch {
	case d < 100*time.Millisecond:
		return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
	case d < time.Second:
		return fmt.Sprintf("%d ms", d/time.Millisecond)
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Truncate(100*time.Millisecond).Seconds())
	default:
		return Duration(d)
	}
}

// ElapsedSeconds formats seconds as [Elapsed] does, nil as an empty text.
func ElapsedSeconds(took *float64) string {
	if took == nil {
		return ""
	}
	return Elapsed(seconds.Duration(*took))
}
