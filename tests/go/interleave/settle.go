package interleave

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// settleAll waits until a session that runs has arrived somewhere, or waits for a lock, and then for those that it lets
// go on.
func (d *driver) settleAll(ctx context.Context, s *session) error {
	if err := d.settle(ctx, s, time.Millisecond); err != nil {
		return err
	}
	return d.settleBlocked(ctx)
}

// settleAgain does the same after a step that was done before.
func (d *driver) settleAgain(ctx context.Context, s *session, before deed) error {
	wait := 20 * time.Millisecond
	if before.waits {
		wait = 0
	}
	if err := d.settle(ctx, s, wait); err != nil {
		return err
	}
	if before.atStop && len(before.acted) == 1 { // no other session went on
		return nil
	}
	return d.settleBlocked(ctx)
}

// settleBlocked looks at the sessions that wait for locks until nothing changes.
func (d *driver) settleBlocked(ctx context.Context) error {
	for changed := true; changed; {
		changed = false
		for _, s := range d.sessions {
			if !s.blocked {
				continue
			}
			if err := d.settle(ctx, s, 0); err != nil {
				return err
			}
			changed = changed || !s.blocked
		}
	}
	return nil
}

// awaitDeadlock waits until the server ends one of the sessions, all of which wait for locks.
func (d *driver) awaitDeadlock(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience,
		errors.New("all sessions wait, and the server does not end one"))
	defer cancel()
	for len(d.enabled()) == 0 && !d.over() {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if err := d.settleBlocked(ctx); err != nil {
			return err
		}
	}
	return nil
}

// over reports whether all sessions are done.
func (d *driver) over() bool {
	return !slices.ContainsFunc(d.sessions, func(s *session) bool { return !s.done })
}

// settle waits until a session that runs has arrived somewhere, or waits for a lock. It looks for the latter after this
// time.
func (d *driver) settle(ctx context.Context, s *session, wait time.Duration) error {
	for {
		if wait > 0 {
			select {
			case e := <-s.events:
				return d.arrive(ctx, s, e)
			case <-time.After(wait):
			case <-ctx.Done():
				return fmt.Errorf("step session %d: %w; %s", s.number, context.Cause(ctx),
					d.activity(context.WithoutCancel(ctx)))
			}
		}
		var waits bool
		var blockers []int32
		const query = "select b.pids && $2::int[], b.pids from pg_blocking_pids($1) as b (pids)"
		err := d.control.QueryRow(ctx, query, int32(s.pid), d.pids).Scan(&waits, &blockers)
		if err != nil {
			return fmt.Errorf("look whether session %d waits: %w", s.number, err)
		}
		select {
		case e := <-s.events:
			return d.arrive(ctx, s, e)
		default:
		}
		if waits {
			s.blocked, s.blockers = true, blockers
			return nil
		}
		wait = min(wait*2+time.Millisecond/2, 10*time.Millisecond)
	}
}

// activity returns what every session of the database does, and for which sessions it waits.
func (d *driver) activity(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	text, err := run(ctx, d.control, `
		select a.pid, a.backend_type, a.state, a.wait_event_type, a.wait_event, pg_blocking_pids(a.pid), left(a.query, 100)
		  from pg_stat_activity as a
		 where a.datname = current_database()
		 order by a.pid`)
	if err != nil {
		return err.Error()
	}
	return text
}

// arrive notes an event. A session whose statement failed rolls back, and one that has committed is done.
func (d *driver) arrive(ctx context.Context, s *session, e event) error {
	s.arrive(e, d.stops, d.prints.callees)
	if s.done {
		if _, err := run(ctx, s.conn, "rollback"); err != nil {
			return fmt.Errorf("roll back session %d: %w", s.number, err)
		}
	}
	if s.at == "" && s.next == len(d.world.sessions[s.number-1].statements()) {
		s.done = true
	}
	return nil
}
