package shim

import (
	"context"
	"time"
)

// claimsAtOnce is the number of concurrent claims in a flood. With one, the database is idle while an answer is sent
// and read; a third would mostly read rows that the other two have locked.
const claimsAtOnce = 2

// besideAnswer is the answer to one of several concurrent claims, each of which asks for maxClaim jobs.
type besideAnswer struct {
	jobs     []*Job
	ask      plan
	duration time.Duration
	err      error
}

// flood claims with several concurrent calls for as long as each returns the maximum number of jobs. A single claim
// then detects the end of the flood. If a task has a limit of its own, there are no floods.
func (f *fetcher) flood(stop context.Context) error {
	answers := make(chan besideAnswer, claimsAtOnce)
	underWay, ends := 0, false
	var failure error
	set := f.tasks.Load()
	for {
		f.takeNotes()
		ends = ends || stop.Err() != nil || f.tasks.Load() != set
		if !ends && underWay < claimsAtOnce && f.room(underWay*maxClaim) >= maxClaim {
			forbidden, err := f.askForbidden(stop, set, set.names)
			if err == nil {
				forbidden.beyond = f.load.beyond()
				underWay++
				go f.claimBeside(stop, plan{tasks: set.names, limit: maxClaim, ofQueue: f.backlog.ofQueue()}, forbidden, answers)
				continue
			}
			ends, failure = true, err
		}
		if underWay == 0 {
			return failure
		}
		select {
		case a := <-answers:
			underWay--
			f.take(stop, a)
			switch {
			case a.err != nil:
				ends, failure = true, a.err
			case len(a.jobs) < maxClaim:
				ends = true
			}
		case s := <-f.settled:
			f.noteSettled(s)
		case waits := <-f.notices:
			f.noteAlone(waits)
			ends = ends || waits
		case <-f.backlog.slack:
		case now := <-f.stale.C:
			f.returnOld(now)
		}
	}
}

func (f *fetcher) claimBeside(stop context.Context, ask plan, forbidden forbidden, answers chan<- besideAnswer) {
	emit(f.events, ClaimStarted{Limit: maxClaim})
	sent := time.Now()
	jobs, err := f.queries.claimBeside(context.WithoutCancel(stop), ask, forbidden)
	answers <- besideAnswer{jobs: jobs, ask: ask, duration: time.Since(sent), err: err}
}

// take processes the answer to a claim of a flood.
func (f *fetcher) take(stop context.Context, a besideAnswer) {
	switch {
	case a.err != nil:
		emit(f.events, ClaimFailed{Err: a.err, Duration: a.duration})
		f.lost()
	case len(a.jobs) == 0:
		emit(f.events, ClaimEmpty{Duration: a.duration})
	default:
		f.load.arrived(a.jobs, a.duration)
		f.aside.worked(len(a.jobs))
		f.accept(stop, a.jobs, a.ask, a.duration)
	}
}
