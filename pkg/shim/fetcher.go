package shim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

const (
	// maxUnwritten bounds the outcomes that wait to be written; beyond it nothing is claimed until the database caught up.
	maxUnwritten = 2000
	// stallTime is how long jobs wait behind handlers of which none finishes before they are returned for others.
	stallTime = time.Second
)

// settlement tells that outcomes have left the finisher.
type settlement struct {
	jobs  int
	queue bool // a named queue may have become free
}

// fetcher claims jobs and hands them to the executors. Nothing else claims.
type fetcher struct {
	queries      *queries
	tasks        []string
	pollInterval time.Duration
	once         bool // leave when nothing is runnable
	forbidden    forbiddenFlags
	logger       *slog.Logger
	events       *eventBus
	fail         func(error) // ends the worker

	wake     signal               // look for jobs
	finished <-chan time.Duration // a handler returned after so long
	settled  <-chan settlement
	jobs     chan *Job // what is in it has not started
	outcomes chan<- outcome

	pace     pace
	sleep    *sleep
	busy     int  // jobs claimed whose handlers have not returned
	held     int  // jobs claimed whose outcomes are not settled
	look     bool // there may be something to claim
	orphaned bool // the answer to a claim was lost, and with it perhaps jobs locked in our name
	poll     *time.Timer
	progress time.Time // when a job was last claimed or finished
}

// run claims until stop ends or, with once, until nothing is runnable. Then it returns what has not started and closes
// jobs.
func (f *fetcher) run(stop context.Context) {
	defer close(f.jobs)
	defer f.returnUnstarted()

	f.look = true
	f.poll = time.NewTimer(f.pollInterval)
	defer f.poll.Stop()
	var retry backoff
	for stop.Err() == nil {
		f.takeNotes()
		if f.orphaned && f.held == 0 {
			f.look = true // nothing is known to be held, so what is locked in our name can be freed
		}
		limit := min(f.pace.want(f.busy), cap(f.jobs)-f.held)
		switch {
		case f.look && limit > 0:
			err := f.claim(stop, limit)
			if err == nil {
				retry.reset()
				continue
			}
			if isMistake(err) || isRefusal(err) {
				f.fail(fmt.Errorf("claim jobs: %w", err))
				return
			}
			f.logger.Warn("cannot claim jobs, will try again", "error", err)
			retry.wait(stop)
		case f.once && !f.look && f.held == 0:
			return
		default:
			f.wait(stop)
		}
	}
}

// claim takes up to limit jobs, or learns when to look again. Once sent it is not called off: the jobs that it locks
// would be lost.
func (f *fetcher) claim(stop context.Context, limit int) error {
	if f.orphaned && f.held == 0 {
		if err := f.queries.unlock(context.WithoutCancel(stop)); err != nil {
			return fmt.Errorf("unlock jobs of a lost claim: %w", err)
		}
		f.orphaned = false
	}
	started := time.Now()
	emit(f.events, ClaimStarted{Limit: limit})
	forbidden, err := f.forbidden.ask(stop)
	if err != nil {
		emit(f.events, ClaimFailed{Err: err, Duration: time.Since(started)})
		return errors.New(err.Error()) // whatever it says, it is no mistake of the worker's
	}
	answer, err := f.queries.claim(context.WithoutCancel(stop), f.tasks, limit, f.sleep.lasting, forbidden)
	if err != nil {
		emit(f.events, ClaimFailed{Err: err, Duration: time.Since(started)})
		f.orphaned = true
		f.sleep.unsure = true
		return err
	}
	if len(answer.jobs) == 0 {
		emit(f.events, ClaimEmpty{Duration: time.Since(started)})
		delay := f.pollInterval
		if answer.dueIn != nil {
			delay = min(delay, *answer.dueIn)
		}
		f.poll.Reset(delay)
		again, err := f.sleep.fall(context.WithoutCancel(stop), answer.newMark)
		f.look = again || err != nil
		return err
	}
	emit(f.events, ClaimSucceeded{Jobs: len(answer.jobs), Duration: time.Since(started)})
	// Jobs may be left, of a named queue's or behind those that others are claiming; only an empty answer ends the search.
	f.busy += len(answer.jobs)
	f.held += len(answer.jobs)
	f.progress = time.Now()
	for _, job := range answer.jobs {
		f.jobs <- job // has room: no more are held than fit
	}
	if len(answer.jobs) == limit {
		f.pace.filled()
		return f.sleep.rise(context.WithoutCancel(stop))
	}
	return nil
}

// wait waits for a reason to claim.
func (f *fetcher) wait(stop context.Context) {
	var stalled <-chan time.Time
	if len(f.jobs) > 0 {
		timer := time.NewTimer(time.Until(f.progress.Add(stallTime)))
		defer timer.Stop()
		stalled = timer.C
	}
	var ended <-chan time.Time
	if !f.look && len(f.sleep.inFlight) > 0 {
		timer := time.NewTimer(time.Until(f.sleep.lookAt))
		defer timer.Stop()
		ended = timer.C
	}
	select {
	case <-stop.Done():
	case <-ended:
		f.look = f.sleep.anyEnded(context.WithoutCancel(stop))
	case <-f.wake:
		f.look = true
	case <-f.poll.C:
		f.look = true
	case d := <-f.finished:
		f.noteFinished(d)
	case s := <-f.settled:
		f.noteSettled(s)
	case <-stalled:
		f.pace.stalled()
		f.returnUnstarted()
	}
}

// takeNotes takes in what the other loops have said so far.
func (f *fetcher) takeNotes() {
	for {
		select {
		case d := <-f.finished:
			f.noteFinished(d)
		case s := <-f.settled:
			f.noteSettled(s)
		default:
			return
		}
	}
}

func (f *fetcher) noteFinished(d time.Duration) {
	f.busy--
	f.pace.finished(d)
	f.progress = time.Now()
}

func (f *fetcher) noteSettled(s settlement) {
	f.held -= s.jobs
	f.look = f.look || s.queue || f.once
}

// returnUnstarted gives the jobs that no executor has taken to the finisher.
func (f *fetcher) returnUnstarted() {
	for {
		select {
		case job := <-f.jobs:
			f.busy--
			f.outcomes <- outcome{job: job, verdict: returned}
		default:
			return
		}
	}
}
