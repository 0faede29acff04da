package shim

import (
	"context"
	"time"
)

// alone is what the worker does about a suspect: a job that another worker held when it died. A suspect runs alone,
// with no other job beside it in its worker, so that a crash shows whether it caused the first one. No worker waits for
// that longer than one heartbeat interval.
type alone int

const (
	noneWaits alone = iota
	oneWaits        // an idle worker may claim one; a busy worker asks whether to make room
	makeRoom        // this worker claims nothing else until roomOver
)

// aloneNotice passes to the fetcher whether a suspect is waiting, as reported by the last heartbeat.
type aloneNotice chan bool

func newAloneNotice() aloneNotice { return make(aloneNotice, 1) }

// tell replaces a notice that was not received yet. Only one goroutine calls it.
func (n aloneNotice) tell(waits bool) {
	select {
	case <-n:
	default:
	}
	n <- waits
}

// noteAlone records the notice of a heartbeat.
func (f *fetcher) noteAlone(waits bool) {
	switch {
	case !waits:
		f.alone, f.roomOver = noneWaits, nil
	case f.alone != makeRoom:
		f.alone, f.askedRoom, f.askedBeside = oneWaits, false, false
	}
	if f.runsAlone { // it may have run long enough
		f.look, f.tryBeside = true, true
	}
}

// endRoom continues with other jobs, because the running ones did not end in time.
func (f *fetcher) endRoom() {
	f.roomOver = nil
	if f.alone == makeRoom {
		f.alone, f.askedBeside, f.look = oneWaits, false, true
	}
}

// claimAlone claims a suspect, if one is left, while the worker holds no job. A worker that has made room repeats this
// until there are no more; other workers claim one when they have nothing else to do.
func (f *fetcher) claimAlone(stop context.Context) error {
	set := f.tasks.Load()
	jobs, err := f.claimSuspect(stop, set, set.names, false)
	if err != nil {
		return err
	}
	f.look = f.look || f.alone == makeRoom || len(jobs) > 0 // there may be other jobs once it has completed
	if len(jobs) == 0 {
		f.alone, f.roomOver = noneWaits, nil
	}
	f.runsAlone = len(jobs) > 0
	return nil
}

// askForRoom claims a suspect to run it beside the jobs that the worker holds, if that is allowed, and otherwise asks
// whether to make room. It does each once per heartbeat; the former again when a full task has room again.
func (f *fetcher) askForRoom(stop context.Context, limit int) error {
	set := f.tasks.Load()
	if limit > 0 {
		f.askedBeside = true
		if ask := f.plan(set, 1); len(ask.tasks) > 0 {
			jobs, err := f.claimSuspect(stop, set, ask.tasks, true)
			if err != nil {
				return err
			}
			if len(jobs) > 0 {
				f.alone, f.runsAlone = noneWaits, false // until the next heartbeat, which may report more
				return nil
			}
		}
		if f.askedRoom {
			return nil
		}
	}
	f.askedRoom = true
	forbidden, err := f.askForbidden(stop, set, set.names)
	if err != nil {
		return err
	}
	room, err := f.queries.makeRoom(context.WithoutCancel(stop), set.names, forbidden)
	if err != nil || room <= 0 {
		return err
	}
	f.alone, f.roomOver = makeRoom, time.After(room)
	return nil
}

// claimSuspect claims at most one suspect.
func (f *fetcher) claimSuspect(stop context.Context, set *taskSet, tasks []string, beside bool) ([]*Job, error) {
	forbidden, err := f.askForbidden(stop, set, tasks)
	if err != nil {
		return nil, err
	}
	if f.aside.singly > 0 {
		jobs, err := f.takeSingly(stop, tasks, forbidden, f.queries.claimUnreadAlone(beside))
		if err == nil && len(jobs) > 0 {
			f.accept(stop, jobs, plan{}, 0)
		}
		return jobs, err
	}
	started := time.Now()
	emit(f.events, ClaimStarted{Limit: 1})
	jobs, err := f.queries.claimAlone(context.WithoutCancel(stop), tasks, forbidden, beside)
	if err != nil {
		emit(f.events, ClaimFailed{Err: err, Duration: time.Since(started)})
		f.lost()
		f.sleep.unsure = true
		return nil, err
	}
	f.load.arrived(jobs, time.Since(started))
	if len(jobs) == 0 {
		emit(f.events, ClaimEmpty{Duration: time.Since(started)})
		return nil, nil
	}
	f.aside.worked(len(jobs))
	f.accept(stop, jobs, plan{}, time.Since(started))
	return jobs, nil
}
