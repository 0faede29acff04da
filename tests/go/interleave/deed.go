package interleave

import "slices"

// A deed is what a step has done, and which sessions it has moved: its own, and those that had waited for a lock.
type deed struct {
	footprint
	own    footprint // what the transactions of these sessions have done themselves
	seen   footprint // the rows of it that the step has certainly changed or locked
	acted  []int     // the sessions that may have done something
	moved  []int
	where  string // where its own session has come to
	atStop bool   // which is a stop from which it can continue
	waits  bool   // or a lock for which it waits
}

func newDeed(did, own, seen footprint, s *session, acted []*session) deed {
	done := deed{footprint: did, own: own, seen: seen, where: s.where(), atStop: s.at != "" &&
		!s.blocked, waits: s.blocked}
	for _, a := range acted {
		done.acted = append(done.acted, a.number-1)
		if !a.blocked || a == s {
			done.moved = append(done.moved, a.number-1)
		}
	}
	return done
}

// dependent reports whether the order of two steps can matter.
func (a deed) dependent(b deed) bool {
	moved := func(i int) bool { return slices.Contains(b.moved, i) }
	return slices.ContainsFunc(a.moved, moved) || dependent(a.footprint, b.footprint)
}

// nextFootprint returns the footprint of what a session does next, without its effect on others if that ends its
// transaction. The function that the session is in continues, and with it the statements that have called it.
func (d *driver) nextFootprint(s *session) footprint {
	f := newFootprint()
	statements := d.world.sessions[s.number-1].statements()
	if s.at == "" && !s.blocked {
		f.add(d.prints.of(statements[s.next]))
		if t := d.world.sessions[s.number-1]; s.next == 0 &&
			t.isolation != "" { // its snapshot is that of all its statements
			f.add(footprint{reads: d.reach(t).reads})
		}
		return f
	}
	running := []string{statements[s.next-1]}
	for _, frame := range s.stack {
		running = append(running, frame.at.statement)
	}
	for n, statement := range running {
		if n < len(running)-1 && !s.blocked {
			f.add(d.prints.restOf(statement))
		} else {
			f.add(d.prints.of(statement))
		}
	}
	return f
}

// did returns what a step of session s has done, for which these sessions may have done something: s, and those that
// had waited for it. own is what their transactions have done themselves, seen the rows of it that were seen to change
// in the step.
func (d *driver) did(may footprint, rows, committed set, s *session, acted []*session) (did, own, seen footprint) {
	held := newFootprint()
	for _, a := range acted {
		held.add(a.written)
	}
	did = may.refined(rows, held, d.shared, d.prints.tables)
	for row := range with(did.rows, did.shared) {
		for _, class := range d.watch.classes[row] {
			did.classes[class] = true
		}
	}
	if len(acted) == 1 && !s.done {
		d.locks.note(s.locked, did, may, d.world.name)
	}
	own, seen = did.changes(), may.refined(rows, newFootprint(), d.shared, d.prints.tables).changes()
	for _, a := range acted {
		a.wrote(own, seen, s)
		switch {
		case a.done:
			did.add(a.written, footprint{shown: committed})
			if !a.written.isEmpty() {
				did.shown[inProgress] = true
			}
		case a.blocked:
			for _, other := range d.blockers(a) {
				did.add(other.written.within(with(with(may.mayLock(), may.creates),
					d.behind))) // for some of which it waits
			}
		}
	}
	return did, own, seen
}

// wrote adds what a step of session by may have let this session do: itself, or one that had waited for it.
func (s *session) wrote(own, seen footprint, by *session) {
	s.written.add(own)
	switch {
	case s == by:
		s.locked.add(own)
	case by.done && !s.blocked: // else it still waits, and has locked nothing
		s.locked.add(seen)
	}
}

// waitingFor returns the sessions that wait for a lock which a session holds, or for one that waits for such a lock.
func (d *driver) waitingFor(s *session) (sessions []*session) {
	for _, other := range d.sessions {
		if other != s && other.blocked && slices.Contains(d.blockers(other), s) {
			sessions = append(sessions, other)
		}
	}
	return sessions
}

// blockers returns the sessions for which a session waits, and those for which they wait.
func (d *driver) blockers(s *session) (sessions []*session) {
	pids := slices.Clone(s.blockers)
	for n := 0; n < len(pids); n++ {
		for _, other := range d.sessions {
			if int32(other.pid) != pids[n] || other == s || slices.Contains(sessions, other) {
				continue
			}
			sessions = append(sessions, other)
			if other.blocked {
				pids = append(pids, other.blockers...)
			}
		}
	}
	return sessions
}
