package shim

import (
	"context"
	"time"
)

// alone says whether a job waits that was with a worker when it died. Such a job runs alone: nothing beside it in its
// worker, which so shows whether it was the one that killed the other.
type alone int

const (
	noneWaits alone = iota
	oneWaits        // whoever has nothing else to do may take it
	makeRoom        // this worker should claim nothing else before
)

// aloneNotice carries what the last beat said of it to the fetcher.
type aloneNotice chan alone

func newAloneNotice() aloneNotice { return make(aloneNotice, 1) }

// tell replaces what was not heard yet. One goroutine calls it.
func (n aloneNotice) tell(a alone) {
	select {
	case <-n:
	default:
	}
	n <- a
}

// claimAlone takes a job that has to run alone, if one is left, while the worker holds nothing. Whoever makes room for them
// goes on until there are no more; others take one when they have nothing else to do.
func (f *fetcher) claimAlone(stop context.Context) error {
	set := f.tasks.Load()
	forbidden, err := f.askForbidden(stop, set, set.names)
	if err != nil {
		return err
	}
	if f.aside.singly > 0 {
		jobs, err := f.takeSingly(stop, set.names, forbidden, f.queries.claimUnreadAlone)
		if err != nil || len(jobs) == 0 {
			return err
		}
		f.look, f.runsAlone = true, true
		f.accept(stop, jobs, maxClaim, 0)
		return nil
	}
	started := time.Now()
	emit(f.events, ClaimStarted{Limit: 1})
	jobs, err := f.queries.claimAlone(context.WithoutCancel(stop), set.names, forbidden)
	if err != nil {
		emit(f.events, ClaimFailed{Err: err, Duration: time.Since(started)})
		f.lost()
		f.sleep.unsure = true
		return err
	}
	f.load.arrived(jobs, time.Since(started))
	f.look = true // there are others perhaps, for when it is done
	if len(jobs) == 0 {
		emit(f.events, ClaimEmpty{Duration: time.Since(started)})
		f.alone = noneWaits
		return nil
	}
	f.aside.worked(len(jobs))
	f.runsAlone = true
	f.accept(stop, jobs, maxClaim, time.Since(started))
	return nil
}
