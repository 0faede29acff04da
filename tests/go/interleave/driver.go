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
	pass     map[int]string // the stops that each session of the world passes
	passNone bool
	touched  set      // the tables of which sessions of the world may change or lock rows
	shared   set      // those of which they may lock rows for share
	behind   set      // those of which they may do so behind stops that they pass
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

// vacuumEvery is after how many runs the jobs are vacuumed: a claim that steps over a thousand dead rows does other
// steps.
const vacuumEvery = 100

// warm makes a session one that has claimed before, and has no claim cursor.
const warm = "set gw.claim_cursor = ''"

// begin creates the rows of the world, and brings its sessions to the state before their first statement.
func (d *driver) begin(ctx context.Context, w world) error {
	if d.world.name != w.name {
		d.pass, d.touched, d.shared, d.behind = make(map[int]string), set{}, set{}, set{}
		for i, t := range w.sessions {
			reach := d.reach(t)
			maps.Copy(d.touched, reach.touched())
			maps.Copy(d.shared, reach.shares)
			places := d.passed(w, i)
			d.pass[i+1] = strings.Join(places, ",")
			for _, place := range places {
				if d.mayReach(t, place) {
					maps.Copy(d.behind, d.prints.of(d.stops[place].statement).mayLock())
				}
			}
		}
	}
	d.world = w
	d.trace = nil
	if d.runs++; d.runs%vacuumEvery == 0 {
		if err := d.exec(ctx, "vacuum graphile_worker._private_jobs"); err != nil {
			return err
		}
	}
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
	}
	d.sessions = slices.Clone(d.pool[:len(w.sessions)]) // of which kill replaces some
	d.pids = []int32{int32(d.holder.PgConn().PID())}
	for _, s := range d.sessions {
		d.pids = append(d.pids, int32(s.pid))
		s.next, s.done, s.blocked, s.at, s.turn, s.stack, s.answers, s.leads = 0, false, false, "", 0, nil, nil, false
		s.written, s.locked = newFootprint(), newFootprint()
	}
	if _, err := d.control.Exec(ctx, firstTurns(len(d.sessions))); err != nil {
		return fmt.Errorf("take the first turns: %w", err)
	}
	d.watch.last = nil
	return d.listener.begin(ctx)
}

// firstTurns takes the turns with which sessions begin. A session that was ended or canceled in an earlier run may have
// drawn a turn without reporting it.
func firstTurns(sessions int) string {
	var b strings.Builder
	b.WriteString("select pg_advisory_unlock_all()")
	for n := range sessions {
		fmt.Fprintf(&b, ", setval('interleave.turns%[1]d', 1, false), pg_advisory_lock(%[2]s, (%[1]d * %[3]s + 1))",
			n+1, stopClass, turnsOfASession)
	}
	return b.String()
}

// beginning returns what a session sends before its first call, and begins its transaction. Functions that act by
// chance, such as save_step, draw the same numbers in each run.
func (d *driver) beginning(s *session) string {
	pass := d.pass[s.number]
	if d.passNone {
		pass = ""
	}
	return fmt.Sprintf("set interleave.pass = '%s'; set seed to 0.5; %s; %s", pass, warm,
		d.world.sessions[s.number-1].begin())
}

// turnKey returns the second half of the lock of a turn.
func (s *session) turnKey(turn int) string {
	return fmt.Sprintf("(%d * %s + %d)", s.number, turnsOfASession, turn)
}

// letGo returns what lets a session pass its stops, if it is at one or before its first, and ends so many stops behind.
func (s *session) letGo(steps int) string {
	held := s.turn
	if s.at == "" {
		held++
	}
	return fmt.Sprintf("select pg_advisory_lock(%[1]s, %[2]s); select pg_advisory_unlock(%[1]s, %[3]s)",
		stopClass, s.turnKey(s.turn+steps), s.turnKey(held))
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

// step lets session i do one step: to its next stop, to the end of its statement, or until it waits for a lock. It
// returns what the step has done.
func (d *driver) step(ctx context.Context, i int) (deed, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("a step takes too long"))
	defer cancel()
	if d.watch.last == nil {
		if err := d.watch.begin(ctx, d.touched); err != nil {
			return deed{}, err
		}
	}
	s := d.sessions[i]
	did := d.nextFootprint(s)
	waited := d.waitingFor(s)
	letsGo := slices.ContainsFunc(s.stack, func(f frame) bool { return f.at.guarded })
	if letsGo { // by rolling back what it has done in a block
		did.add(s.written)
	}
	then := newFootprint() // what the others do when they go on
	for _, other := range waited {
		then.add(d.nextFootprint(other))
	}
	if err := d.goOn(ctx, s, 1); err != nil {
		return deed{}, err
	}
	if err := d.settleAll(ctx, s); err != nil {
		return deed{}, err
	}
	acted := []*session{s}
	if letsGo || s.done || slices.ContainsFunc(waited,
		func(a *session) bool { return !a.blocked }) { // they may wait again
		acted = append(acted, waited...)
		did.add(then)
	}
	tables := with(did.mayLock(), d.behind)
	for _, a := range acted {
		if a.done {
			maps.Copy(tables, a.written.touched())
		}
	}
	rows, committed, err := d.watch.changes(ctx, tables)
	if err != nil {
		return deed{}, err
	}
	did, own, seen := d.did(did, rows, committed, s, acted)
	if err := d.ended(ctx, s); err != nil {
		return deed{}, err
	}
	if s.done && d.listener.looked {
		did.add(footprint{skips: listened})
	}
	if s.done && fallsAsleep(d.world.sessions[i]) {
		did.add(d.looksAtAll())
	}
	d.note(s, false)
	return newDeed(did, own, seen, s, acted), nil
}

// stepAgain lets session i do these steps again, all but the last of which have led it to stops, and moved no other
// session.
func (d *driver) stepAgain(ctx context.Context, i int, known []deed) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("a step takes too long"))
	defer cancel()
	s := d.sessions[i]
	if err := d.goOn(ctx, s, len(known)); err != nil {
		return err
	}
	for _, before := range known {
		if err := d.settleAgain(ctx, s, before); err != nil {
			return err
		}
		for _, a := range before.acted {
			d.sessions[a].wrote(before.own, before.seen, s)
		}
		if err := d.ended(ctx, s); err != nil {
			return err
		}
		d.note(s, false)
		if where := s.where(); where != before.where {
			return fmt.Errorf("%w: session %d has come to %q, and before to %q", errNotTheSame, i+1, where,
				before.where)
		}
	}
	return nil
}

// goOn lets a session continue for this number of steps, all but the last of which lead it to stops.
func (d *driver) goOn(ctx context.Context, s *session, steps int) error {
	d.steps += steps
	starts := s.at == ""
	if !starts || steps > 1 {
		if err := d.exec(ctx, s.letGo(steps)); err != nil {
			return err
		}
	}
	if !starts {
		return nil
	}
	sql := d.world.sessions[s.number-1].statements()[s.next]
	if s.begins = s.next == 0; s.begins {
		sql = d.beginning(s) + sql
	}
	s.next++
	s.start(sql)
	return nil
}

// failed reports whether a session of the run has failed.
func (d *driver) failed() bool {
	return slices.ContainsFunc(d.sessions, func(s *session) bool {
		return len(s.answers) > 0 && strings.HasPrefix(s.answers[len(s.answers)-1], "error ")
	})
}

// reset throws the sessions away after a run that could not be finished.
func (d *driver) reset(ctx context.Context) error {
	for _, s := range d.pool {
		_ = s.conn.PgConn().Conn().Close()
		if err := d.exec(ctx, fmt.Sprintf("select pg_terminate_backend(%d); drop sequence interleave.turns%d", s.pid,
			s.number)); err != nil {
			return err
		}
	}
	d.pool = nil
	if _, err := run(ctx, d.holder, "rollback"); err != nil {
		return fmt.Errorf("let rows go: %w", err)
	}
	return d.exec(ctx, "select pg_advisory_unlock_all()")
}
