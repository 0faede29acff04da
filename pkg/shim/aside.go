package shim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	// maxAside is the number of unreadable jobs that are kept until another job can be read.
	maxAside = 16
	// readAgain is how long such a job is kept if there is no other one.
	readAgain = 5 * time.Second
)

// unreadable is the prefix of the last error of such a job; doctor() searches for it.
const unreadable = "The job cannot be read"

// errNoneReadable postpones claims: if no job can be read, single rows are not the cause.
var errNoneReadable = errors.New("none of the jobs that were claimed can be read")

// aside holds the jobs that could not be read. One row that the server cannot send makes every claim fail that would
// return it. So after two consecutive claims with such an error, the worker claims jobs one at a time without reading
// them, and then reads them by their ids. It keeps an unreadable job claimed, so that the job does not block others,
// until a claim succeeds again. Then it reads the job a second time, and fails it permanently if that fails too.
type aside struct {
	failures int // consecutive failed claims with an error that a row may cause
	singly   int // the number of jobs still to be claimed one at a time
	jobs     []*Job
	claim    bool             // read them again after the next successful claim
	now      bool             // a claim has succeeded
	again    <-chan time.Time // when to read the next one again, nil without jobs
}

// failed records a failed claim of up to limit jobs.
func (a *aside) failed(err error, limit int) {
	if !isAboutRow(err) {
		return
	}
	if a.failures++; a.failures > 1 {
		a.singly = limit
	}
}

// worked records a successful claim and its number of jobs.
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
		f.accept(stop, jobs, plan{}, 0)
	}
	return err
}

type claimUnreadFunc func(context.Context, []string, forbidden) (*Job, error)

// takeSingly claims one job and reads it. It returns no job if there is none or if the job was put aside.
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
	f.logger.Warn("job cannot be read, worker will try once more", "task_identifier", job.TaskIdentifier, "job_id", job.ID, "error", err)
	f.held.add([]*Job{job})
	f.aside.jobs = append(f.aside.jobs, job)
	f.aside.again = time.After(readAgain)
}

// readAside reads the jobs aside again, and fails those that cannot be read.
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
			f.accept(stop, jobs, plan{}, 0)
		}
	}
	f.aside.again = nil
	return nil
}

// failUnreadable fails a job permanently, without its payload.
func (f *fetcher) failUnreadable(job *Job, err error) {
	err = fmt.Errorf("%s: %w", unreadable, err)
	f.outcomes <- outcome{job: job, verdict: failed, permanent: true, err: err, message: cleanMessage(err.Error())}
}

// readable returns the jobs of a claim that can run, and fails the others.
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
