package shim

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gwsql/gw/internal/guard"
)

// maxUnwritten limits the outcomes that wait to be written; above it nothing is claimed until the database has
// caught up.
const maxUnwritten = 2000

// settlement reports that outcomes have left the finisher.
type settlement struct {
	jobs  []*Job
	queue bool // a named queue may have become free
}

// A claim never waits: it skips rows that another transaction has locked briefly, such as the lane of a limit, and jobs that
// are being moved because a limit has changed. An empty claim then reports that jobs are due within soonDue, or within
// cursorDue if there may be jobs in front of the claim cursor. A run that ends when nothing is runnable claims again, for
// mostLinger after its last job.
const (
	soonDue    = 60 * time.Millisecond
	cursorDue  = 500 * time.Millisecond
	mostLinger = 5 * time.Second
)

// After this number of consecutive empty claims of jobs that are due soon, the worker claims at growing intervals: another
// transaction may lock the jobs while it stays open. When it ends, a notification follows.
const (
	mostVain     = 10
	vainInterval = 500 * time.Millisecond
)

// fetcher claims jobs and passes them to the executors. Only the fetcher claims jobs.
type fetcher struct {
	loop
	tasks        *atomic.Pointer[taskSet]
	pollInterval time.Duration
	once         bool // stop when nothing is runnable
	forbidden    forbiddenFlags

	wake     signal       // search for jobs
	listens  signal       // the same, and the server may have lost our mark
	changed  signal       // the same, because the tasks were replaced
	anew     *atomic.Bool // set before listens if the worker does not listen for the first time
	settled  <-chan settlement
	notices  aloneNotice
	backlog  *backlog
	outcomes chan<- outcome

	sleep       *sleep
	load        load
	aside       aside
	held        held // claimed jobs whose outcomes are not settled
	alone       alone
	askedRoom   bool             // since the last heartbeat, whether to make room
	askedBeside bool             // the same, for a suspect to run beside other jobs
	roomOver    <-chan time.Time // the end of the time to make room, nil without
	runsAlone   bool             // the held job has to run alone
	tryBeside   bool             // the next claim shows whether others may run beside it by now
	look        bool             // there may be jobs to claim
	rest        rest             // but not before it is over
	leftOut     bool             // but not in this claim, because a task was full
	skips       bool             // the next claim may leave out tasks with a limit
	lingers     bool             // with once, jobs are due at any moment that this claim could not take
	claimedAt   time.Time        // of the last claim that was not empty, or the start
	vain        int              // consecutive empty claims of jobs that are due soon
	unsure      unsure
	poll        *time.Timer
	stale       *time.Timer      // fires when jobs may have waited too long
	watched     bool             // stale is running
	paused      <-chan time.Time // the end of the pause after a failed claim, nil without
}

// run claims until stop ends or, with once, until nothing is runnable. Then it returns the jobs that have not started
// and closes the backlog.
func (f *fetcher) run(stop context.Context) {
	defer func() {
		f.giveBack(f.backlog.close())
		f.giveBack(f.aside.jobs)
	}()

	f.look, f.claimedAt = true, time.Now()
	f.poll = time.NewTimer(f.pollInterval)
	defer f.poll.Stop()
	f.stale = time.NewTimer(maxWait)
	f.watched = true
	defer f.stale.Stop()
	var retry backoff
	for stop.Err() == nil {
		f.takeNotes()
		if f.backlog.reopened() {
			f.look, f.askedBeside = true, false
		}
		limit := f.room(0)
		var err error
		switch {
		case f.paused != nil:
			f.wait(stop)
			continue
		case f.unsure.now:
			err = f.returnUnknown(stop)
		case f.aside.now:
			err = f.readAside(stop)
		case f.held.n == 0 && (f.alone == makeRoom || !f.look && (f.alone == oneWaits || f.once && !f.leftOut && !f.lingers)):
			last := f.once && !f.look
			err = f.claimAlone(stop)
			if last && err == nil && !f.runsAlone {
				return
			}
		case f.alone == oneWaits && f.held.n > 0 && (!f.runsAlone || f.tryBeside) && (limit > 0 && !f.askedBeside || !f.askedRoom):
			err = f.askForRoom(stop, limit)
		case f.look && f.rest.over == nil && limit > 0 && f.alone != makeRoom && (!f.runsAlone || f.tryBeside):
			if f.aside.singly > 0 {
				err = f.claimSingly(stop)
				break
			}
			var floods bool
			if floods, err = f.claim(stop, limit); floods {
				err = f.flood(stop)
			}
		default:
			f.wait(stop)
			continue
		}
		if err == nil {
			retry.reset()
		} else if ends := f.claimFailed(err, limit, &retry); ends {
			return
		}
	}
}

// claimFailed handles the error of a claim of up to limit jobs: it ends the worker if the call itself is invalid, otherwise it
// pauses the claims.
func (f *fetcher) claimFailed(err error, limit int, retry *backoff) (ends bool) {
	if isMistake(err) || inClass(err, "GW") {
		f.fail(fmt.Errorf("claim jobs: %w", err))
		return true
	}
	f.queries.warn(f.logger, "claim failed, worker will try again", err)
	f.aside.failed(err, max(limit, 1))
	f.paused = time.After(retry.next())
	return false
}

// claim claims up to limit jobs, or reads when to search again. It reports whether there were so many jobs that several
// concurrent claims would be filled. Once sent, a claim is not canceled, because the jobs that it locks would be lost.
func (f *fetcher) claim(stop context.Context, limit int) (floods bool, err error) {
	set := f.tasks.Load()
	ask := f.plan(set, limit)
	if len(ask.tasks) == 0 { // until one of them has room
		f.look = false
		return false, nil
	}
	started := time.Now()
	emit(f.events, ClaimStarted{Limit: ask.limit})
	forbidden, err := f.askForbidden(stop, set, ask.tasks)
	if err != nil {
		return false, err
	}
	forbidden.beyond = f.load.beyond()
	sent, lasting := time.Now(), f.sleep.lasting
	if !ask.whole {
		lasting = 0 // the claim may be empty only because a task is full, so the worker must not sleep
	}
	answer, err := f.queries.claim(context.WithoutCancel(stop), ask, lasting, forbidden)
	if err != nil {
		emit(f.events, ClaimFailed{Err: err, Duration: time.Since(started)})
		f.lost()
		f.sleep.unsure = true
		return false, err
	}
	f.load.arrived(answer.jobs, time.Since(sent))
	f.aside.worked(len(answer.jobs))
	f.learn(ask, answer.jobs, set)
	f.runsAlone, f.tryBeside = f.runsAlone && len(answer.jobs) == 0, false
	f.lingers = false
	if len(answer.jobs) == 0 {
		emit(f.events, ClaimEmpty{Duration: time.Since(started)})
		if !ask.whole {
			return false, nil
		}
		delay := f.pollInterval
		if answer.dueIn != nil {
			delay = min(delay, *answer.dueIn)
		}
		f.poll.Reset(f.unlessVain(delay))
		f.lingers = f.once && delay <= cursorDue && time.Since(f.claimedAt) < mostLinger
		again, err := f.sleep.fall(context.WithoutCancel(stop), sent, answer.newMark)
		f.look = again || err != nil
		return false, err
	}
	f.vain = 0
	// There may be more jobs, in a named queue or behind those that other workers are claiming. Only an empty answer
	// ends the search.
	f.accept(stop, answer.jobs, ask, time.Since(started))
	full := len(answer.jobs) == ask.limit
	err = f.sleep.rise(context.WithoutCancel(stop), full)
	if !full {
		f.rest.after(answer.jobs, time.Since(sent))
		return false, err
	}
	return err == nil && ask.limit == maxClaim && !set.isLimited(), err
}

// unlessVain returns how long to wait after an empty claim that reports when jobs are due.
func (f *fetcher) unlessVain(due time.Duration) time.Duration {
	if due > soonDue {
		f.vain = 0
		return due
	}
	if f.vain++; f.vain <= mostVain {
		return due
	}
	return min(soonDue<<min(f.vain-mostVain, 4), vainInterval, f.pollInterval)
}

// room returns how many jobs can be claimed if asked jobs are already requested.
func (f *fetcher) room(asked int) int {
	n := min(f.backlog.want(asked), cap(f.outcomes)-f.held.n-asked)
	held := f.held.bytes + int64(asked)*f.load.mean
	return f.load.fit(n, f.backlog.pace.concurrency-f.held.n-asked, maxHeldBytes-held)
}

// lost is called when a claim got no answer: jobs may be locked that the worker does not know of, and the claim may
// have asked for too many.
func (f *fetcher) lost() {
	f.unsure.lost()
	f.load.overdue()
}

// askForbidden returns the flags that a claim of these tasks must exclude.
func (f *fetcher) askForbidden(stop context.Context, set *taskSet, tasks []string) (forbidden, error) {
	if f.forbidden.fn == nil && len(set.flagged) == 0 {
		return forbidden{flags: f.forbidden.list}, nil
	}
	started := time.Now()
	ctx, cancel := context.WithTimeout(stop, callTimeout)
	defer cancel()
	asked, err := set.ask(ctx, f.forbidden, tasks)
	if err != nil {
		emit(f.events, ClaimFailed{Err: err, Duration: time.Since(started)})
		return forbidden{}, errors.New(guard.Text(err)) // a class of this error must not count as the worker's mistake
	}
	return asked, nil
}

// accept passes claimed jobs to the executors.
func (f *fetcher) accept(stop context.Context, jobs []*Job, ask plan, duration time.Duration) {
	emit(f.events, ClaimSucceeded{Jobs: len(jobs), Duration: duration})
	f.queries.readCarried(context.WithoutCancel(stop), jobs)
	filled := len(jobs) == ask.limit
	if jobs = f.readable(jobs); len(jobs) == 0 {
		return
	}
	f.held.add(jobs)
	f.claimedAt = time.Now()
	f.backlog.arrived(duration)
	f.backlog.add(jobs, filled, ask.ofQueue)
	if !f.watched {
		f.watched = true
		f.stale.Reset(maxWait)
	}
}

// wait waits for a reason to claim.
func (f *fetcher) wait(stop context.Context) {
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
	case <-f.rest.over:
		f.rest.end()
	case <-f.wake:
		f.look = true
	case <-f.changed:
		f.look = true
		f.rest.end()
	case <-f.listens:
		f.look, f.sleep.unsure = true, true
		f.rest.end()
		if f.anew.Swap(false) {
			f.unsure.lost()
		}
		f.paused = nil // the database is available again
	case <-f.aside.again:
		f.look, f.aside.claim = true, true
		f.aside.again = time.After(readAgain)
	case <-f.poll.C:
		f.look = true
	case <-f.paused:
		f.paused = nil
	case <-f.unsure.again:
		f.unsure.now, f.unsure.again = true, nil
	case waits := <-f.notices:
		f.noteAlone(waits)
	case <-f.roomOver:
		f.endRoom()
	case <-f.backlog.slack:
	case s := <-f.settled:
		f.noteSettled(s)
	case now := <-f.stale.C:
		f.returnOld(now)
	}
}

// takeNotes receives all pending settlements of the finisher.
func (f *fetcher) takeNotes() {
	for {
		select {
		case s := <-f.settled:
			f.noteSettled(s)
		default:
			return
		}
	}
}

func (f *fetcher) noteSettled(s settlement) {
	f.held.remove(s.jobs)
	if f.runsAlone && f.held.n == 0 {
		f.runsAlone, f.look = false, true
	}
	f.look = f.look || s.queue || f.once
	f.rest.ended(s.jobs)
}

// returnOld returns the waiting jobs if one of them has waited too long because handlers take longer than expected.
func (f *fetcher) returnOld(now time.Time) {
	unstarted, oldest := f.backlog.takeOld(now.Add(-maxWait))
	f.giveBack(unstarted)
	if f.watched = !oldest.IsZero(); f.watched {
		f.stale.Reset(time.Until(oldest.Add(maxWait)))
	}
}

// giveBack passes jobs that have not started to the finisher.
func (f *fetcher) giveBack(unstarted []*Job) {
	for _, job := range unstarted {
		f.outcomes <- outcome{job: job, verdict: returned}
	}
}
