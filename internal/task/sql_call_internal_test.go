package task

import (
	"math"
	"testing"
	"time"
)

func TestTheTimeForManyJobsDoesNotOverflow(t *testing.T) {
	const century = 100 * 365 * 24 * time.Hour
	for _, c := range []struct {
		jobs          int
		timeout, want time.Duration
	}{
		{1, time.Hour, time.Hour + answerTime},
		{64, 4 * time.Hour, 256*time.Hour + answerTime},
		{64, century, math.MaxInt64},
	} {
		if got := timeFor(c.jobs, c.timeout); got != c.want {
			t.Errorf("%d jobs with %s each have %s, want %s", c.jobs, c.timeout, got, c.want)
		}
	}
}
