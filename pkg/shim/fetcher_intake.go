package shim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gwsql/gw/internal/guard"
	"github.com/gwsql/gw/pkg/shim/internal/ration"
)

// unreadablePrefix is the prefix of the last error of a job that cannot be read; doctor() searches for it.
const unreadablePrefix = "The job cannot be read"

// intake is what the sources of jobs share: what they may ask for, and where claimed jobs go.
type intake struct {
	loop
	tasks     *atomic.Pointer[taskSet]
	forbidden forbiddenFlags
	backlog   *backlog
	outcomes  chan<- outcome
	held      heldList // claimed jobs whose outcomes are not settled
	sleep     *sleep

	once      bool      // stop when nothing is runnable
	look      bool      // there may be jobs to claim
	leftOut   bool      // but not in this claim, because a task was full
	lingers   bool      // with once, jobs are due at any moment that the last claim could not take
	isOver    bool      // nothing more is claimed
	drained   bool      // nothing more is claimed until a heartbeat says otherwise
	claimedAt time.Time // of the last claim that was not empty, or the start
	staleAt   time.Time // when jobs may have waited too long, zero without
	news      news
}

// news is what claims have shown since the sources last took note of it.
type news struct {
	unanswered bool // jobs may be locked in the worker's name without its knowledge
	empty      bool // a claim of all jobs has succeeded, without any
	jobs       bool // a claim has returned jobs
}

// room returns how many jobs can be claimed if claims in flight ask for asked jobs.
func (in *intake) room(asked int) int {
	return in.backlog.want(ration.Situation{
		Held: in.held.n, Bytes: in.held.bytes, InFlight: asked, Room: cap(in.outcomes) - in.held.n,
	})
}

// plan returns what to ask for if up to n jobs are wanted.
func (in *intake) plan(n int, set *taskSet) ration.Plan {
	ask := in.backlog.plan(n, set)
	in.leftOut = ask.LeftOut
	return ask
}

// askForbidden returns what a claim of these tasks must exclude.
func (in *intake) askForbidden(stop context.Context, set *taskSet, tasks []string) (asked exclusions, err error) {
	asked.flags = in.forbidden.list
	if in.forbidden.fn != nil || len(set.flagged) > 0 {
		started := time.Now()
		ctx, cancel := context.WithTimeout(stop, callTimeout)
		defer cancel()
		if asked, err = set.ask(ctx, in.forbidden, tasks); err != nil {
			emit(in.events, ClaimFailed{Err: err, Duration: time.Since(started)})
			return exclusions{}, errors.New(guard.Text(err)) // a class of this error must not count as the worker's mistake
		}
	}
	return asked, nil
}

type claimTry struct {
	ask       ration.Plan
	forbidden exclusions
	started   time.Time
	sent      time.Time
}

func (in *intake) begin(stop context.Context, set *taskSet, ask ration.Plan) (a claimTry, err error) {
	a = claimTry{ask: ask, started: time.Now()}
	emit(in.events, ClaimStarted{Limit: ask.Limit})
	a.forbidden, err = in.askForbidden(stop, set, ask.Tasks)
	a.sent = time.Now()
	return a, err
}

// end handles the answer to a claim: it passes jobs on, and if there is no answer, jobs may be locked that the worker
// does not know of, and the claim may have asked for too many.
func (in *intake) end(stop context.Context, a claimTry, jobs []*Job, err error) {
	took := time.Since(a.started)
	switch {
	case err != nil:
		emit(in.events, ClaimFailed{Err: err, Duration: took})
		in.news.unanswered, in.sleep.unsure = true, true
		in.backlog.learn((*ration.Ration).Overdue)
	case len(jobs) == 0:
		emit(in.events, ClaimEmpty{Duration: took})
	default:
		in.backlog.learn(func(r *ration.Ration) { r.Claimed(len(jobs), bytesOf(jobs), time.Since(a.sent)) })
		in.news.jobs = true
		in.accept(stop, jobs, a.ask, took)
	}
}

// accept passes claimed jobs to the executors. A job that cannot run, although it was received, fails.
func (in *intake) accept(stop context.Context, jobs []*Job, ask ration.Plan, took time.Duration) {
	emit(in.events, ClaimSucceeded{Jobs: len(jobs), Duration: took})
	in.queries.readCarried(context.WithoutCancel(stop), jobs)
	in.held.add(jobs)
	filled := len(jobs) == ask.Limit
	jobs = slices.DeleteFunc(jobs, func(job *Job) bool {
		err := job.hold.unreadable
		if err != nil {
			in.failUnreadable(job, err)
		}
		return err != nil
	})
	if len(jobs) == 0 {
		return
	}
	in.claimedAt = time.Now()
	in.backlog.add(jobs, filled, ask.OfQueue)
	if in.staleAt.IsZero() {
		in.staleAt = in.claimedAt.Add(ration.MaxWait)
	}
}

// returnOld returns the waiting jobs if one of them has waited too long because handlers take longer than expected.
func (in *intake) returnOld(now time.Time) {
	unstarted, oldest := in.backlog.takeOld(now.Add(-ration.MaxWait))
	in.giveBack(unstarted)
	if in.staleAt = oldest; !oldest.IsZero() {
		in.staleAt = oldest.Add(ration.MaxWait)
	}
}

func (in *intake) failUnreadable(job *Job, err error) {
	err = fmt.Errorf("%s: %w", unreadablePrefix, err)
	in.outcomes <- outcome{job: job, verdict: verdictFailed, permanent: true, err: err, message: err.Error()}
}

func (in *intake) giveBack(unstarted []*Job) {
	for _, job := range unstarted {
		in.outcomes <- outcome{job: job, verdict: verdictReturned}
	}
}

// heldList is the list of claimed jobs whose outcomes are not settled. They are linked through their holds, because a
// map would cost more than all other bookkeeping of a job. A job may be claimed again before its return is settled, and
// is in the list twice then.
type heldList struct {
	n     int
	bytes int64
	last  *Job
}

func (h *heldList) add(jobs []*Job) {
	for _, job := range jobs {
		job.hold.before, job.hold.after = h.last, nil
		if h.last != nil {
			h.last.hold.after = job
		}
		h.last = job
	}
	h.n += len(jobs)
	h.bytes += bytesOf(jobs)
}

func (h *heldList) remove(jobs []*Job) {
	for _, job := range jobs {
		before, after := job.hold.before, job.hold.after
		if before != nil {
			before.hold.after = after
		}
		if after != nil {
			after.hold.before = before
		} else {
			h.last = before
		}
		job.hold.before, job.hold.after = nil, nil // so that one retained job does not retain them all
	}
	h.n -= len(jobs)
	h.bytes -= bytesOf(jobs)
}

func (h *heldList) ids() []int64 {
	ids := make([]int64, 0, h.n)
	for job := h.last; job != nil; job = job.hold.before {
		ids = append(ids, job.ID)
	}
	return ids
}

func bytesOf(jobs []*Job) (bytes int64) {
	for _, job := range jobs {
		bytes += job.hold.bytes
	}
	return bytes
}

// earlier returns the earlier one of two times, of which zero is never.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
