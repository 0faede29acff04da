package interleave

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/jackc/pgx/v5/pgproto3"
)

// killed is the answer of a session that was ended.
const killed = "error 57P01"

// kill ends session i, wherever it is, as an administrator or a crash of its server process does.
func (d *driver) kill(ctx context.Context, i int) error {
	s := d.sessions[i]
	if err := d.exec(ctx, fmt.Sprintf("select pg_terminate_backend(%d)", s.pid)); err != nil {
		return err
	}
	if err := d.replace(ctx, i); err != nil {
		return err
	}
	s.answers = append(s.answers, killed)
	d.note(s, true)
	if err := d.settleBlocked(ctx); err != nil {
		return err
	}
	return d.watch.begin(ctx, d.touched)
}

// lose sends the commit of session i, which is its next statement, and closes the connection without reading the
// answer. The server reads it, and commits. Triggers that run then have no stops, because a server process that sends
// the notice of a stop would detect the closed connection.
func (d *driver) lose(ctx context.Context, i int) error {
	s := d.sessions[i]
	s.conn.PgConn().Frontend().SendQuery(&pgproto3.Query{String: "set interleave.session = ''; commit"})
	if err := s.conn.PgConn().Frontend().Flush(); err != nil {
		return fmt.Errorf("send the commit of session %d: %w", s.number, err)
	}
	if err := s.conn.PgConn().Conn().Close(); err != nil {
		return fmt.Errorf("close the connection of session %d: %w", s.number, err)
	}
	if err := d.replace(ctx, i); err != nil {
		return err
	}
	s.answers = append(s.answers, "")
	d.note(s, true)
	if err := d.settleBlocked(ctx); err != nil {
		return err
	}
	return d.wake(ctx, 0, false)
}

// replace waits until session i, which is about to end, has ended, and opens another one for the next run.
func (d *driver) replace(ctx context.Context, i int) error {
	s := d.sessions[i]
	whole := ctx
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("a session does not end"))
	defer cancel()
	d.steps++
	for there := true; there; {
		if err := d.control.QueryRow(ctx, "select exists (select from pg_stat_activity where pid = $1)",
			int32(s.pid)).Scan(&there); err != nil {
			return fmt.Errorf("wait for the end of session %d: %w", s.number, err)
		}
	}
	if s.at != "" || s.blocked {
		<-s.events // that its statement has failed
	}
	_ = s.conn.Close(ctx)
	s.at, s.blocked, s.done = "", false, true
	next, err := newSession(whole, d.url, s.number)
	if err != nil {
		return err
	}
	d.pool[i] = next
	return nil
}

// wander runs a world in one order, drawn at random. If it is to kill, one of the sessions ends at some step.
func (d *driver) wander(ctx context.Context, w world, random *rand.Rand, kills bool) (order []int, err error) {
	if err := d.begin(ctx, w); err != nil {
		return nil, err
	}
	victim := -1
	if kills {
		victim = random.IntN(len(w.sessions))
	}
	for {
		can, err := d.able(ctx)
		if err != nil || len(can) == 0 {
			return order, err
		}
		if victim >= 0 && !d.sessions[victim].done && random.IntN(8) == 0 {
			order = append(order, ^victim)
			if err := d.kill(ctx, victim); err != nil {
				return order, fmt.Errorf("order %v: %w", order, err)
			}
			victim = -1
			continue
		}
		i := can[random.IntN(len(can))]
		order = append(order, i)
		if _, err := d.step(ctx, i); err != nil {
			return order, fmt.Errorf("order %v: %w", order, err)
		}
	}
}

// follow runs a world in an order of wander or explore, which has ^i where session i is ended.
func (d *driver) follow(ctx context.Context, w world, order []int) error {
	if err := d.begin(ctx, w); err != nil {
		return err
	}
	for _, i := range order {
		can, err := d.able(ctx)
		switch {
		case err != nil:
		case i < 0:
			err = d.kill(ctx, ^i)
		case !slices.Contains(can, i):
			err = fmt.Errorf("session %d has no step", i+1)
		default:
			_, err = d.step(ctx, i)
		}
		if err != nil {
			return fmt.Errorf("order %v: %w", order, err)
		}
	}
	return d.finish(ctx)
}

// finish lets all sessions run to their ends, in this order.
func (d *driver) finish(ctx context.Context) error {
	for {
		can, err := d.able(ctx)
		if err != nil || len(can) == 0 {
			return err
		}
		if _, err := d.step(ctx, can[0]); err != nil {
			return err
		}
	}
}

// abandon rolls back all sessions, wherever they are.
func (d *driver) abandon(ctx context.Context) error {
	whole := ctx
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("a session does not end its statement"))
	defer cancel()
	for _, s := range d.sessions {
		if s.at == "" && !s.blocked {
			continue
		}
		if err := d.exec(ctx, fmt.Sprintf("select pg_cancel_backend(%d)", s.pid)); err != nil {
			return err
		}
	}
	for _, s := range d.sessions {
		if err := d.abandonOne(ctx, s); err != nil {
			return fmt.Errorf("roll back session %d: %w", s.number, err)
		}
		if _, err := run(whole, s.conn, "rollback"); err != nil {
			return fmt.Errorf("roll back session %d: %w", s.number, err)
		}
	}
	return nil
}

// abandonOne waits until the statement of a session, which was canceled, has ended.
func (d *driver) abandonOne(ctx context.Context, s *session) error {
	for s.at != "" || s.blocked {
		select {
		case e := <-s.events:
			s.arrive(e, d.stops, d.prints.callees)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	s.done = true
	return nil
}
