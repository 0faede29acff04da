// Package seconds reads times that come as a number of seconds.
package seconds

import (
	"math"
	"time"
)

// Duration returns so many seconds, as long as a time.Duration can be at most; no number counts as none.
func Duration(seconds float64) time.Duration {
	switch nanoseconds := seconds * float64(time.Second); {
	case nanoseconds >= math.MaxInt64:
		return math.MaxInt64
	case nanoseconds <= math.MinInt64:
		return math.MinInt64
	case math.IsNaN(nanoseconds):
		return 0
	default:
		return time.Duration(nanoseconds)
	}
}
