package fuzz

import (
	"fmt"

	"github.com/gwsql/gw/internal/pgtest"
)

// someLimits change neither the answers of add_job and add_jobs nor the columns of jobs, but how many jobs are claimed.
var someLimits = []pgtest.Limit{
	{Name: "narrow", Task: "a", Most: 2},
	{Name: "wide", Task: "send", InQueues: true, Most: 3},
}

// reached is the event that as many jobs run as a limit allows.
func reached(l pgtest.Limit) string { return "the limit " + l.Name + " is reached" }

// checkLimits returns which limit is exceeded by the running jobs.
func (f *fuzz) checkLimits() error {
	for _, l := range f.model.limits {
		running := map[string]int{} // by queue
		for _, j := range f.model.jobs {
			if j.isLocked && j.identifier == l.Task && j.queueName.Valid == l.InQueues {
				running[j.queueName.V]++
			}
		}
		for queue, count := range running {
			if count > l.Most {
				return fmt.Errorf("%d jobs of the limit %s and queue %q run", count, l.Name, queue)
			}
			if count == l.Most {
				f.model.seen[reached(l)]++
			}
		}
	}
	return nil
}
