package shim

import (
	"context"
	"fmt"
	"time"
)

// unsure records that jobs may be locked in the worker's name without its knowledge: after a claim without an answer,
// and after a failover to a server that lacks the commits of their outcomes. The server may execute such a claim some
// time after the connection broke, so the worker checks twice.
type unsure struct {
	now   bool
	again <-chan time.Time // when to check again
}

// lost is called when a claim got no answer, and when the worker listens again.
func (u *unsure) lost() {
	u.now, u.again = true, time.After(callTimeout)
}

// pending reports whether a check is left.
func (u *unsure) pending() bool { return u.now || u.again != nil }

// returnUnknown returns to the queue the jobs locked in the worker's name that it does not know of. No claim is in
// flight.
func (f *fetcher) returnUnknown(stop context.Context) error {
	returned, err := f.queries.returnUnknown(context.WithoutCancel(stop), f.held.ids())
	if err != nil {
		return fmt.Errorf("return jobs of a lost claim: %w", err)
	}
	f.unsure.now = false
	if returned > 0 {
		f.look = true
		f.logger.Warn("jobs of a claim without an answer returned to the queue", "jobs", returned)
	}
	return nil
}
