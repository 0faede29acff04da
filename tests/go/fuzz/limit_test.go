package fuzz

import (
	"fmt"

	"github.com/gwsql/gw/internal/pgtest"
)

// someLimits change neither the answers of add_job and add_jobs nor the columns of jobs, but how many jobs are claimed.
var someLimits = []pgtest.Limit{
	{Name: "narrow", Task: "a", Most: 2},
	{Name: "wide", Task: "send", Most: 3},
}

// reached is the event that as many jobs run as a limit allows.
func reached(l pgtest.Limit) string { return "the limit " + l.Name + " is reached" }

// checkLimits returns which limit is exceeded by the running jobs.
func (f *fuzz) checkLimits() error {
	for _, l := range f.model.limits {
		running := 0
		for _, j := range f.model.jobs {
			if j.isLocked && j.identifier == l.Task {
				running++
			}
		}
		if running > l.Most {
			return fmt.Errorf("%d jobs of the limit %s run", running, l.Name)
		}
		if running == l.Most {
			f.model.seen[reached(l)]++
		}
	}
	return nil
}
