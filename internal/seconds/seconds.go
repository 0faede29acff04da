// Package seconds converts numbers of seconds to durations.
package seconds

import (
	"math"
	"time"
)

// Duration returns a number of seconds as a time.Duration, at most the longest one. NaN is 0.
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
