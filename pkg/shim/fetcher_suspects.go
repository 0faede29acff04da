package shim

import (
	"context"
	"time"

	"github.com/gwsql/gw/pkg/shim/internal/ration"
)

type advice struct {
	aloneWaits bool // a suspect is waiting
	drained    bool // claim no more jobs
}

type adviceBox chan advice

func newAdviceBox() adviceBox { return make(adviceBox, 1) }

// tell replaces advice that was not received yet. Only one goroutine calls it.
func (b adviceBox) tell(latest advice) {
	select {
	case <-b:
	default:
	}
	b <- latest
}

// suspects is the source of suspects: jobs that another worker held when it died. A suspect runs alone, with no other
// job beside it in its worker, so that a crash shows whether it caused the first one. No worker waits for that longer
// than one heartbeat interval.
type suspects struct {
	*intake
	aside *aside

	waits       bool      // an idle worker may claim one; a busy worker asks whether to make room
	askedRoom   bool      // since the last heartbeat, whether to make room
	askedBeside bool      // the same, for a suspect to run beside other jobs
	roomOver    time.Time // until when this worker makes room: it claims nothing else; zero without
	runsAlone   bool      // the held job has to run alone
	tryBeside   bool      // the next claim shows whether others may run beside it by now
}

func (s *suspects) note(waits bool) {
	switch {
	case !waits:
		s.waits, s.roomOver = false, time.Time{}
	case !s.makesRoom():
		s.waits, s.askedRoom, s.askedBeside = true, false, false
	}
	if s.runsAlone { // it may have run long enough
		s.look, s.tryBeside = true, true
	}
}

func (s *suspects) makesRoom() bool { return !s.roomOver.IsZero() }

func (s *suspects) noteSettled() {
	if s.runsAlone && s.held.n == 0 {
		s.runsAlone, s.look = false, true
	}
}

// noteClaim is called after a claim of other jobs; others tells whether it returned any.
func (s *suspects) noteClaim(others bool) {
	s.runsAlone, s.tryBeside = s.runsAlone && !others, false
}

// tick continues with other jobs if the running ones did not end in time.
func (s *suspects) tick(now time.Time) time.Time {
	if s.makesRoom() && !now.Before(s.roomOver) {
		s.roomOver, s.askedBeside, s.look = time.Time{}, false, true
	}
	return s.roomOver
}

func (s *suspects) allowsOthers() bool { return !s.makesRoom() && s.mayHaveOthers() }

func (s *suspects) mayHaveOthers() bool { return !s.runsAlone || s.tryBeside }

func (s *suspects) ready() bool {
	if s.drained {
		return false
	}
	if s.held.n == 0 {
		return s.makesRoom() || !s.look && (s.waits || s.once && !s.leftOut && !s.lingers)
	}
	return s.waits && s.allowsOthers() && (!s.askedRoom || !s.askedBeside && s.room(0) > 0)
}

func (s *suspects) run(stop context.Context) error {
	if s.held.n == 0 {
		return s.claimAlone(stop)
	}
	return s.askForRoom(stop)
}

// claimAlone claims a suspect, if one is left, while the worker holds no job. A worker that has made room repeats this
// until there are no more; other workers claim one when they have nothing else to do. With once, nothing else is left
// then.
func (s *suspects) claimAlone(stop context.Context) error {
	isLast := s.once && !s.look
	set := s.tasks.Load()
	found, err := s.claim(stop, set, ration.Plan{Tasks: set.names, Limit: 1}, false)
	if err != nil {
		return err
	}
	s.look = s.look || s.makesRoom() || found // there may be other jobs once it has completed
	if !found {
		s.waits, s.roomOver = false, time.Time{}
	}
	s.runsAlone = found
	s.isOver = isLast && !found
	return nil
}

// askForRoom claims a suspect to run it beside the jobs that the worker holds, if that is allowed, and otherwise asks
// whether to make room. It does each once per heartbeat; the former again when a full task has room again.
func (s *suspects) askForRoom(stop context.Context) error {
	set := s.tasks.Load()
	if s.room(0) > 0 {
		s.askedBeside = true
		if ask := s.plan(1, set); len(ask.Tasks) > 0 {
			found, err := s.claim(stop, set, ask, true)
			if err != nil {
				return err
			}
			if found {
				s.waits, s.runsAlone = false, false // until the next heartbeat, which may report more
				return nil
			}
		}
		if s.askedRoom {
			return nil
		}
	}
	s.askedRoom = true
	forbidden, err := s.askForbidden(stop, set, set.names)
	if err != nil {
		return err
	}
	room, err := s.queries.makeRoom(context.WithoutCancel(stop), set.names, forbidden)
	if err != nil || room <= 0 {
		return err
	}
	s.roomOver = time.Now().Add(room)
	return nil
}

// claim claims at most one suspect, and reports whether it was accepted.
func (s *suspects) claim(stop context.Context, set *taskSet, ask ration.Plan, beside bool) (found bool, err error) {
	of := s.queries.suspect(beside)
	if s.aside.singly > 0 {
		return s.aside.claimSingly(stop, set, ask, of)
	}
	try, err := s.begin(stop, set, ask)
	if err != nil {
		return false, err
	}
	jobs, err := s.queries.claimJobs(context.WithoutCancel(stop), of, ask, try.forbidden)
	try.ask = ration.Plan{} // one job tells nothing about others
	s.end(stop, try, jobs, err)
	return len(jobs) > 0, err
}
