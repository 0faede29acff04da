package shim

import (
	"context"
	"time"
)

// alone says what to do about a job that was with a worker when it died. Such a job runs alone: nothing beside it in its
// worker, which so shows whether it was the one that killed the other. But no worker waits for that longer than a beat.
type alone int

const (
	noneWaits alone = iota
	oneWaits        // whoever has nothing else to do may take it, and who is busy asks whether to make room
	makeRoom        // this worker claims nothing else before, until roomOver
)

// aloneNotice carries to the fetcher whether one waits, as the last beat said.
type aloneNotice chan bool

func newAloneNotice() aloneNotice { return make(aloneNotice, 1) }

// tell replaces what was not heard yet. One goroutine calls it.
func (n aloneNotice) tell(waits bool) {
	select {
	case <-n:
	default:
	}
	n <- waits
}

// noteAlone takes in what a beat said.
func (f *fetcher) noteAlone(waits bool) {
	switch {
	case !waits:
		f.alone, f.roomOver = noneWaits, nil
	case f.alone != makeRoom:
		f.alone, f.askedRoom, f.askedBeside = oneWaits, false, false
	}
	if f.runsAlone { // perhaps for long enough
		f.look, f.tryBeside = true, true
	}
}

// endRoom goes on with other jobs, since those that run did not end in time.
func (f *fetcher) endRoom() {
	f.roomOver = nil
	if f.alone == makeRoom {
		f.alone, f.askedBeside, f.look = oneWaits, false, true
	}
}

// claimAlone takes a job that has to run alone, if one is left, while the worker holds nothing. Whoever makes room for them
// goes on until there are no more; others take one when they have nothing else to do.
func (f *fetcher) claimAlone(stop context.Context) error {
	set := f.tasks.Load()
	jobs, err := f.claimSuspect(stop, set, set.names, false)
	if err != nil {
		return err
	}
	f.look = f.look || f.alone == makeRoom || len(jobs) > 0 // there are others perhaps, for when it is done
	if len(jobs) == 0 {
		f.alone, f.roomOver = noneWaits, nil
	}
	f.runsAlone = len(jobs) > 0
	return nil
}

// askForRoom takes a job that should be alone to run it beside those that the worker holds, where that is right, and else
// asks whether to make room: each once after a beat, the former again when a task has room that had none.
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
				f.alone, f.runsAlone = noneWaits, false // until the next beat, which may say that there are more
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

// claimSuspect takes up to one job that should run alone.
func (f *fetcher) claimSuspect(stop context.Context, set *taskSet, tasks []string, beside bool) ([]*Job, error) {
	forbidden, err := f.askForbidden(stop, set, tasks)
	if err != nil {
		return nil, err
	}
	if f.aside.singly > 0 {
		jobs, err := f.takeSingly(stop, tasks, forbidden, f.queries.claimUnreadAlone(beside))
		if err == nil && len(jobs) > 0 {
			f.accept(stop, jobs, maxClaim, 0)
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
	f.accept(stop, jobs, maxClaim, time.Since(started))
	return jobs, nil
}
