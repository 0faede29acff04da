package shim

import (
	"context"
	"fmt"
	"time"
)

// lostClaims is the source that returns to the queue the jobs locked in the worker's name that it does not know of:
// after a claim without an answer, and after a failover to a server that lacks the commits of their outcomes. The
// server may execute such a claim some time after the connection broke, so the worker checks twice.
type lostClaims struct {
	*intake
	now   bool
	again time.Time // when to check again, zero for never
}

func (l *lostClaims) tick(now time.Time) time.Time {
	if l.news.unanswered {
		l.news.unanswered = false
		l.now, l.again = true, now.Add(callTimeout)
	}
	if !l.again.IsZero() && !now.Before(l.again) {
		l.now, l.again = true, time.Time{}
	}
	return l.again
}

// pending reports whether a check is left.
func (l *lostClaims) pending() bool { return l.news.unanswered || l.now || !l.again.IsZero() }

func (l *lostClaims) ready() bool { return l.now }

// run checks once. No claim is in flight.
func (l *lostClaims) run(stop context.Context) error {
	returned, err := l.queries.returnUnknown(context.WithoutCancel(stop), l.held.ids())
	if err != nil {
		return fmt.Errorf("return jobs of a lost claim: %w", err)
	}
	l.now = false
	if returned > 0 {
		l.look = true
		l.logger.Warn("jobs of a claim without an answer returned to the queue", "jobs", returned)
	}
	return nil
}
