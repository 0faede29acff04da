package terminal

import (
	"fmt"
	"time"
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

// Duration formats a duration in one unit, rounded down: hours from two hours on, days from two days on, otherwise minutes or
// seconds.
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
