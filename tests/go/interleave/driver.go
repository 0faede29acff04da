package interleave

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// driver runs the sessions of worlds in one database, one step at a time.
type driver struct {
	control  *pgx.Conn
	holder   *pgx.Conn // holds rows that claims pass over
	listener *listener
	locks    lockOrder
	stops    map[string]stop
	prints   *footprints
	watch    *watch
	pool     []*session // by number from 1
	url      string
	pids     []int32    // of those whom a session may have to wait for
	sessions []*session // those of the world
	world    world
	pass     map[int]string // tells each session of the world which stops to pass
	passNone bool
	touched  set      // the tables of which sessions of the world may change or lock rows
	origin   origin   // of this run
	trace    []traced // the steps of this run
	steps    int      // of all runs
	runs     int
}

// patience bounds how long a step may take.
const patience = time.Minute

func newDriver(ctx context.Context, url string) (*driver, error) {
	control, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	holder, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	d := &driver{control: control, holder: holder, url: url, locks: make(lockOrder)}
	if d.prints, err = newFootprints(ctx, control); err != nil {
		return nil, err
	}
	if d.listener, err = newListener(ctx, url); err != nil {
		return nil, err
	}
	if d.watch, err = newWatch(ctx, control, d.prints.tables); err != nil {
		return nil, err
	}
	if d.stops, err = addStops(ctx, control, d.prints); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *driver) close(ctx context.Context) {
	for _, s := range d.pool {
		_ = s.conn.Close(ctx)
	}
	_ = d.control.Close(ctx)
	_ = d.holder.Close(ctx)
	_ = d.listener.conn.Close(ctx)
}

// exec runs a statement of the driver's own.
func (d *driver) exec(ctx context.Context, sql string) error {
	if _, err := d.control.PgConn().Exec(ctx, sql).ReadAll(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(strings.Fields(sql), " "), err)
	}
	return nil
}

// warm makes a session one that has claimed before, and has no claim cursor.
const warm = "select set_config('gw.claim_cursor', '', false)"

// begin makes the world, and its sessions as they are before their first statement.
func (d *driver) begin(ctx context.Context, w world) error {
	if d.world.name != w.name {
		d.pass, d.touched = make(map[int]string), set{}
		for _, t := range w.sessions {
			maps.Copy(d.touched, d.reach(t).touched())
		}
	}
	d.world = w
	d.runs++
	d.trace = nil
	var err error
	if d.origin, err = makeWorld(ctx, d.control, w); err != nil {
		return fmt.Errorf("make world %s: %w", w.name, err)
	}
	for len(d.pool) < len(w.sessions) {
		n := len(d.pool) + 1
		if err := d.exec(ctx, fmt.Sprintf("create sequence interleave.turns%d", n)); err != nil {
			return err
		}
		s, err := newSession(ctx, d.url, n)
		if err != nil {
			return err
		}
		d.pool = append(d.pool, s)
		if err := d.exec(ctx, fmt.Sprintf("select pg_advisory_lock(%s, %s)", stopClass, s.turnKey(1))); err != nil {
			return err
		}
	}
	d.sessions = slices.Clone(d.pool[:len(w.sessions)]) // of which kill replaces some
	d.pids = []int32{int32(d.holder.PgConn().PID())}
	for _, s := range d.sessions {
		d.pids = append(d.pids, int32(s.pid))
		if d.pass[s.number] == "" {
			d.pass[s.number] = d.passed(w, s.number-1)
		}
		pass := fmt.Sprintf("set interleave.pass = '%s'; ", d.pass[s.number])
		if d.passNone {
			pass = "set interleave.pass = ''; "
		}
		if _, err := run(ctx, s.conn, pass+warm); err != nil {
			return fmt.Errorf("reset session %d: %w", s.number, err)
		}
		s.next, s.done, s.blocked, s.at, s.stack, s.answers, s.written, s.leads = 0, false, false, "", nil, nil, newFootprint(), false
	}
	if err := d.listener.begin(ctx); err != nil {
		return err
	}
	return d.watch.begin(ctx, d.touched)
}

// turnKey returns the second half of the lock of a turn.
func (s *session) turnKey(turn int) string {
	return fmt.Sprintf("(%d * %s + %d)", s.number, turnsOfASession, turn)
}

// letGo returns what lets a session go on from its stop to the next.
func (s *session) letGo() string {
	return fmt.Sprintf("select pg_advisory_lock(%[1]s, %[2]s); select pg_advisory_unlock(%[1]s, %[3]s)",
		stopClass, s.turnKey(s.turn+1), s.turnKey(s.turn))
}

// enabled returns the sessions that can do a step.
func (d *driver) enabled() (can []int) {
	for i, s := range d.sessions {
		if !s.done && !s.blocked {
			can = append(can, i)
		}
	}
	return can
}

// able returns the sessions that can do a step. If all of them wait for locks, it waits until the server has ended a
// deadlock; it returns none if all are done.
func (d *driver) able(ctx context.Context) ([]int, error) {
	for {
		can := d.enabled()
		if len(can) > 0 || d.over() {
			return can, nil
		}
		if err := d.awaitDeadlock(ctx); err != nil {
			return nil, err
		}
	}
}

// nextFootprint returns the footprint of the next step of session i. The function that the session is in goes on, and with
// it the statements that have called it.
func (d *driver) nextFootprint(i int) footprint {
	s := d.sessions[i]
	f := newFootprint()
	statements, at := d.world.sessions[i].statements(), s.next
	if s.at != "" {
		at--
	}
	f.add(d.prints.of(statements[at]))
	d.addStack(f, s)
	if statements[at] == "commit" {
		f.add(s.written, footprint{shown: s.written.locked()}, footprint{shown: s.written.creates})
	}
	for _, other := range d.sessions { // may go on when this one lets a lock go
		if other.blocked {
			d.addStack(f, other)
		}
	}
	return f
}

func (d *driver) addStack(f footprint, s *session) {
	for _, frame := range s.stack {
		f.add(d.prints.of(frame.at.statement))
	}
}

// step lets session i do one step: to its next stop, to the end of its statement, or until it waits for a lock. It returns
// what the step has done, and which sessions it has moved.
func (d *driver) step(ctx context.Context, i int) (did footprint, moved []int, err error) {
	whole := ctx
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("a step takes too long"))
	defer cancel()
	d.steps++
	s := d.sessions[i]
	did = d.nextFootprint(i)
	waited := append(d.waiting(), s)
	if slices.ContainsFunc(s.stack, func(f frame) bool { return f.at.guarded }) {
		did.add(s.written) // which it may let go
	}
	began := false
	if s.at != "" {
		if err := d.exec(ctx, s.letGo()); err != nil {
			return did, nil, err
		}
	} else {
		sql := d.world.sessions[i].statements()[s.next]
		began = s.next == 0
		if began {
			sql = d.world.sessions[i].begin() + sql
		}
		s.next++
		s.start(whole, sql)
	}
	if err := d.settle(ctx, s); err != nil {
		return did, nil, err
	}
	s.leads = s.leads || began && s.at != "" && !s.blocked
	if err := d.settleBlocked(ctx); err != nil {
		return did, nil, err
	}
	rows, err := d.watch.changes(ctx)
	if err != nil {
		return did, nil, err
	}
	did = d.did(did, rows, s, waited)
	if s.done {
		if err := d.wake(ctx, fallsAsleep(d.world.sessions[i])); err != nil {
			return did, nil, err
		}
		if fallsAsleep(d.world.sessions[i]) {
			did.add(d.looksAtAll())
		}
	}
	d.note(s, false)
	for _, a := range waited {
		if !a.blocked || a == s {
			moved = append(moved, a.number-1)
		}
	}
	return did, moved, nil
}

// wake lets the listener do what it does after the end of a transaction. It locks rows, which is not to count as what the next
// step does.
func (d *driver) wake(ctx context.Context, asleep bool) error {
	if err := d.listener.wake(ctx, asleep); err != nil {
		return err
	}
	_, err := d.watch.changes(ctx)
	return err
}

// failed tells whether a session of the run has failed.
func (d *driver) failed() bool {
	return slices.ContainsFunc(d.sessions, func(s *session) bool {
		return len(s.answers) > 0 && strings.HasPrefix(s.answers[len(s.answers)-1], "error ")
	})
}

// did returns what a step of session s has done, for which these sessions may have done something: s, and those that waited.
func (d *driver) did(may footprint, rows set, s *session, acted []*session) footprint {
	held := newFootprint()
	for _, a := range acted {
		held.add(a.written)
	}
	did := may.refined(rows, held, d.prints.tables)
	if len(acted) == 1 && !s.done {
		d.locks.note(s.written, did, may, d.world.name)
	}
	for _, a := range acted {
		a.written.add(did.changes())
	}
	if s.done {
		did.add(s.written)
	}
	for _, waiting := range d.waiting() {
		for _, other := range d.sessions {
			if other != waiting && !other.done {
				did.add(other.written) // for some of which it waits
			}
		}
	}
	return did
}

func (d *driver) waiting() (sessions []*session) {
	for _, s := range d.sessions {
		if s.blocked {
			sessions = append(sessions, s)
		}
	}
	return sessions
}

// reset throws the sessions away after a run that could not be finished.
func (d *driver) reset(ctx context.Context) error {
	for _, s := range d.pool {
		_ = s.conn.PgConn().Conn().Close()
		if err := d.exec(ctx, fmt.Sprintf("select pg_terminate_backend(%d); drop sequence interleave.turns%d", s.pid, s.number)); err != nil {
			return err
		}
	}
	d.pool = nil
	if _, err := run(ctx, d.holder, "rollback"); err != nil {
		return fmt.Errorf("let rows go: %w", err)
	}
	return d.exec(ctx, "select pg_advisory_unlock_all()")
}
