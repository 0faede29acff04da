package shim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	// maxAside is how many jobs that could not be read are kept until another one can.
	maxAside = 16
	// readAgain is how long such a job is kept if there is no other one.
	readAgain = 5 * time.Second
)

// unreadable is how the last error of such a job begins; doctor() looks for it.
const unreadable = "The job cannot be read"

// errNoneReadable puts claims off: it is not for single rows that none can be read.
var errNoneReadable = errors.New("none of the jobs that were claimed can be read")

// aside are the jobs that could not be read. One row that the server cannot send fails every claim that would bring it. So
// after two claims in a row with such an error, jobs are claimed one at a time and without being read, then read by their
// ids. One that cannot be read is kept claimed, so that it is in nobody's way, until a claim works again; then it is read
// a second time, and has failed for good if that fails, too.
type aside struct {
	failures int // of claims in a row, as a row would cause them
	singly   int // so many more jobs are claimed one at a time
	jobs     []*Job
	claim    bool             // they are to be read again after the next claim that works
	now      bool             // one has worked
	again    <-chan time.Time // when the next one is to be made, nil without jobs
}

// failed tells of a claim of up to limit jobs that failed.
func (a *aside) failed(err error, limit int) {
	if !isAboutRow(err) {
		return
	}
	if a.failures++; a.failures > 1 {
		a.singly = limit
	}
}

// worked tells of a claim that did not fail, and of how many jobs it brought.
func (a *aside) worked(jobs int) {
	a.failures = 0
	a.now = len(a.jobs) > 0 && (jobs > 0 || a.claim)
}

// claimSingly claims one job that can be read, if the next one can.
func (f *fetcher) claimSingly(stop context.Context) error {
	set := f.tasks.Load()
	ask := f.plan(set, 1)
	if len(ask.tasks) == 0 {
		f.look = false
		return nil
	}
	forbidden, err := f.askForbidden(stop, set, ask.tasks)
	if err != nil {
		return err
	}
	jobs, err := f.takeSingly(stop, ask.tasks, forbidden, f.queries.claimUnread)
	if err == nil && len(jobs) > 0 {
		f.aside.worked(1)
		f.accept(stop, jobs, maxClaim, 0)
	}
	return err
}

type claimUnreadFunc func(context.Context, []string, forbidden) (*Job, error)

// takeSingly claims one job and reads it. It returns none if there is none, or it has put it aside.
func (f *fetcher) takeSingly(stop context.Context, tasks []string, left forbidden, claim claimUnreadFunc) (jobs []*Job, err error) {
	if len(f.aside.jobs) >= maxAside {
		return nil, errNoneReadable
	}
	ctx, started := context.WithoutCancel(stop), time.Now()
	emit(f.events, ClaimStarted{Limit: 1})
	job, err := claim(ctx, tasks, left)
	switch {
	case err != nil:
		f.lost()
	case job == nil:
		f.aside.singly = 0
		emit(f.events, ClaimEmpty{Duration: time.Since(started)})
		return nil, nil
	default:
		f.aside.singly--
		jobs, err = f.queries.readHeld(ctx, job)
	}
	if err != nil {
		emit(f.events, ClaimFailed{Err: err, Duration: time.Since(started)})
	}
	switch {
	case job == nil || err == nil:
		return jobs, err
	case isAboutRow(err):
		f.putAside(job, err)
		return nil, nil
	default:
		f.unsure.lost()
		return nil, err
	}
}

func (f *fetcher) putAside(job *Job, err error) {
	f.logger.Warn("job cannot be read, will try once more", "task_identifier", job.TaskIdentifier, "job_id", job.ID, "error", err)
	f.held.add([]*Job{job})
	f.aside.jobs = append(f.aside.jobs, job)
	f.aside.again = time.After(readAgain)
}

// readAside reads the jobs that are aside again. Those that cannot be read have failed.
func (f *fetcher) readAside(stop context.Context) error {
	f.aside.now, f.aside.claim = false, false
	for len(f.aside.jobs) > 0 {
		job := f.aside.jobs[0]
		jobs, err := f.queries.readHeld(context.WithoutCancel(stop), job)
		if err != nil && !isAboutRow(err) {
			f.aside.again = time.After(readAgain)
			return err
		}
		f.aside.jobs = f.aside.jobs[1:]
		if err != nil {
			f.failUnreadable(job, err)
			continue
		}
		f.held.remove([]*Job{job})
		if len(jobs) > 0 {
			f.accept(stop, jobs, maxClaim, 0)
		}
	}
	f.aside.again = nil
	return nil
}

// failUnreadable reports a job as failed for good, without what it has for a payload.
func (f *fetcher) failUnreadable(job *Job, err error) {
	err = fmt.Errorf("%s: %w", unreadable, err)
	f.outcomes <- outcome{job: job, verdict: failed, permanent: true, err: err, message: cleanMessage(err.Error())}
}

// readable returns the jobs of a claim that can run. The others have failed.
func (f *fetcher) readable(jobs []*Job) []*Job {
	return slices.DeleteFunc(jobs, func(job *Job) bool {
		err := job.hold.unreadable
		if err != nil {
			f.held.add([]*Job{job})
			f.failUnreadable(job, err)
		}
		return err != nil
	})
}
