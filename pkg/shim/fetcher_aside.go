package shim

import (
	"context"
	"errors"
	"time"

	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shim/internal/ration"
)

const (
	// maxAside is the number of unreadable jobs that are kept until another job can be read.
	maxAside = 16
	// readAgain is how long such a job is kept if there is no other one.
	readAgain = 5 * time.Second
)

// errNoneReadable postpones claims: if no job can be read, single rows are not the cause.
var errNoneReadable = errors.New("none of the jobs that were claimed can be read")

// aside is the source of the jobs that could not be read. One row that the server cannot send makes every claim fail
// that would return it. So after two consecutive claims with such an error, the worker claims jobs one at a time
// without reading them, and then reads them by their ids. It keeps an unreadable job claimed, so that the job does not
// block others, until a claim succeeds again. Then it reads the job a second time, and fails it permanently if that
// fails too.
type aside struct {
	*intake
	failures int // consecutive failed claims with an error that a row may cause
	singly   int // the number of jobs still to be claimed one at a time
	jobs     []*Job
	claim    bool      // read them again after the next successful claim, even without jobs
	now      bool      // a claim has succeeded
	again    time.Time // when to set claim, zero without jobs
}

func (a *aside) tick(now time.Time) time.Time {
	if !a.again.IsZero() && !now.Before(a.again) {
		a.look, a.claim = true, true
		a.again = now.Add(readAgain)
	}
	if a.news.jobs || a.news.empty {
		a.failures = 0
		a.now = len(a.jobs) > 0 && (a.news.jobs || a.claim)
		a.news.jobs, a.news.empty = false, false
	}
	return a.again
}

func (a *aside) failed(err error, limit int) {
	if !sqlstate.IsAboutRow(err) {
		return
	}
	if a.failures++; a.failures > 1 {
		a.singly = limit
	}
}

func (a *aside) ready() bool { return a.now }

// run reads the jobs aside again, and fails those that cannot be read.
func (a *aside) run(stop context.Context) error {
	a.now, a.claim = false, false
	for len(a.jobs) > 0 {
		job := a.jobs[0]
		jobs, err := a.queries.readHeld(context.WithoutCancel(stop), job)
		if err != nil && !sqlstate.IsAboutRow(err) {
			a.again = time.Now().Add(readAgain)
			return err
		}
		a.jobs = a.jobs[1:]
		if err != nil {
			a.failUnreadable(job, err)
			continue
		}
		a.held.remove([]*Job{job})
		if len(jobs) > 0 {
			a.accept(stop, jobs, ration.Plan{}, 0)
		}
	}
	a.again = time.Time{}
	return nil
}

// claimSingly claims one job and reads it. It reports whether it has accepted one: there may be none, or it was put
// aside.
func (a *aside) claimSingly(stop context.Context, set *taskSet, ask ration.Plan,
	of claimFrom) (accepted bool, err error) {
	if len(a.jobs) >= maxAside {
		return false, errNoneReadable
	}
	ask.Limit, ask.OfQueue = 1, 1
	try, err := a.begin(stop, set, ask)
	if err != nil {
		return false, err
	}
	try.ask = ration.Plan{} // one job tells nothing about others
	ctx := context.WithoutCancel(stop)
	job, err := a.queries.claimUnread(ctx, of, ask, try.forbidden)
	if job == nil {
		if err == nil {
			a.singly = 0
		}
		a.end(stop, try, nil, err)
		return false, err
	}
	a.singly--
	jobs, err := a.queries.readHeld(ctx, job)
	if err != nil && sqlstate.IsAboutRow(err) {
		emit(a.events, ClaimFailed{Err: err, Duration: time.Since(try.started)})
		a.put(job, err)
		return false, nil
	}
	if err == nil && len(jobs) == 0 { // it was lost meanwhile
		return false, nil
	}
	a.end(stop, try, jobs, err)
	return err == nil, err
}

func (a *aside) put(job *Job, err error) {
	a.logger.Warn("job cannot be read, worker will try once more", "task_identifier", job.TaskIdentifier, "job_id",
		job.ID, "error", err)
	a.held.add([]*Job{job})
	a.jobs = append(a.jobs, job)
	a.again = time.Now().Add(readAgain)
}
