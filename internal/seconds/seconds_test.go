package seconds_test

import (
	"math"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/seconds"
)

func TestNoNumberOfSecondsOverflows(t *testing.T) {
	for _, c := range []struct {
		seconds float64
		want    time.Duration
	}{
		{1.5, 1500 * time.Millisecond},
		{-2, -2 * time.Second},
		{3600, time.Hour},
		{251_000_000_000, math.MaxInt64}, // in the year 9999
		{math.MaxInt64 / 1e9, math.MaxInt64},
		{1e308, math.MaxInt64},
		{-1e308, math.MinInt64},
		{math.Inf(1), math.MaxInt64},
		{math.Inf(-1), math.MinInt64},
		{math.NaN(), 0},
	} {
		if got := seconds.Duration(c.seconds); got != c.want {
			t.Errorf("%g seconds are %d, want %d", c.seconds, got, c.want)
		}
	}
}
