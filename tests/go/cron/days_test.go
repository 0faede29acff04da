package cron_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

// Workers with the same items tick through the hours of a simulated clock in which the clocks of Berlin change. One keeps running, although its connection breaks
// repeatedly; others are killed during ticks and restarted; one schedules like Node. At one point all are down for hours.
func TestDaysOfTicksScheduleEachMinuteOnce(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Database(t))
	start := time.Date(2026, 3, 28, 18, 0, 30, 0, time.UTC) // hours before the clocks change in Berlin
	down, up := start.Add(9*time.Hour), start.Add(13*time.Hour+20*time.Second)
	end := start.Add(19 * time.Hour)
	items := []item{
		newItem("minutely", "* * * * *", "", 12*time.Hour),
		newItem("unfilled", "* * * * *", "", 0),
		newItem("short", "*/5 * * * *", "", time.Hour),
		newItem("night", "30 2 * * *", "Europe/Berlin", 12*time.Hour),
		newItem("hourly", "0 * * * *", "Europe/Berlin", 12*time.Hour),
		newItem("workday", "15 9-17 * * 1-5", "America/New_York", 24*time.Hour),
		newItem("sunday", "*/7 1,12,13 * * 7", "", 0),
	}
	s := &simulation{t: t, pool: pool, items: items, due: map[time.Time][]item{}, random: rand.New(rand.NewPCG(7, 8))}
	for _, item := range items {
		for _, at := range item.between(t, pool, start, end) {
			s.due[at.UTC()] = append(s.due[at.UTC()], item)
		}
	}
	s.workers = []worker{
		&ticker{simulation: s, staysUp: true}, &ticker{simulation: s}, &ticker{simulation: s}, &nodeLike{simulation: s},
	}
	lastBefore := s.live(start, down)
	for _, w := range s.workers {
		w.die()
	}
	last := s.live(up, end)

	got, runs := added(t, pool), 0
	for _, item := range items {
		backfilledFrom := up.Add(-time.Duration(item.Fill) * time.Second)
		for _, at := range item.between(t, pool, start, last) {
			missed := at.After(lastBefore) && !at.After(up)
			covered := item.Fill > 0 && !at.Before(backfilledFrom)
			regular, backfilled := run{item.Identifier, at, false}.String(), run{item.Identifier, at, true}.String()
			switch {
			case missed && (got[regular] != 0 || (got[backfilled] == 1) != covered):
				t.Errorf("%s, missed: scheduled %d times, backfilled %d times", regular, got[regular], got[backfilled])
			case !missed && got[regular]+got[backfilled] != 1:
				// The first killed worker that restarts backfills.
				t.Errorf("%s: scheduled %d times, backfilled %d times", regular, got[regular], got[backfilled])
			}
			runs++
			delete(got, regular)
			delete(got, backfilled)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		t.Errorf("%s should not have been scheduled", key)
	}
	if s.broken < 40 || s.died < 40 {
		t.Errorf("%d calls were broken and %d workers died; want at least 40 each", s.broken, s.died)
	}
	if runs < 1500 {
		t.Errorf("only %d runs", runs)
	}
}

// A simulation has a clock that advances when all workers have ticked.
type simulation struct {
	t       *testing.T
	pool    *pgxpool.Pool
	items   []item
	due     map[time.Time][]item
	workers []worker

	mu     sync.Mutex // guards what follows
	random *rand.Rand
	broken int
	died   int
}

type worker interface {
	// tick returns when the worker has scheduled everything that is due at that time.
	tick(now time.Time)
	// die makes the worker lose its state.
	die()
}

// live repeatedly advances the clock by one or a few minutes, and returns the time of the last ticks. Killed workers restart in the
// minute in which they were killed, so that the worker that keeps running is never behind one that starts.
func (s *simulation) live(from, until time.Time) (last time.Time) {
	for now := from; now.Before(until); now = now.Add(time.Duration(1+max(0, s.intN(8)-3)) * time.Minute) {
		var ticks sync.WaitGroup
		for _, w := range s.workers {
			ticks.Go(func() { w.tick(now) })
		}
		ticks.Wait()
		if s.t.Failed() {
			s.t.FailNow()
		}
		last = now
	}
	return last
}

func (s *simulation) intN(n int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.IntN(n)
}

func (s *simulation) count(counter *int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*counter++
}

// A ticker calls run_cron, as a worker does.
type ticker struct {
	*simulation
	staysUp bool
	conn    *pgx.Conn
	since   *time.Time
}

func (w *ticker) die() { w.since = nil }

func (w *ticker) tick(now time.Time) {
	items := itemsJSON(w.t, w.items)
	for {
		if w.conn == nil || w.conn.IsClosed() {
			conn, err := pgx.ConnectConfig(w.t.Context(), w.pool.Config().ConnConfig)
			if err != nil {
				w.t.Errorf("connect: %v", err)
				return
			}
			w.conn = conn
			w.t.Cleanup(func() { _ = conn.Close(context.Background()) })
		}
		broken := w.breakSometimes()
		a, err := tick(w.t.Context(), w.conn, items, w.since, now)
		<-broken
		if err != nil {
			var pgErr *pgconn.PgError
			if errors.As(err, &pgErr) && pgErr.Code != "57P01" {
				w.t.Errorf("tick at %v: %v", now, err)
				return
			}
			w.count(&w.broken)
			_ = w.conn.Close(w.t.Context())
			if !w.staysUp {
				w.count(&w.died)
				w.since = nil
			}
			continue
		}
		first := w.since == nil
		w.since = &a.Handled
		if first && now.Truncate(time.Minute).After(a.Handled) {
			continue
		}
		return
	}
}

// breakSometimes soon ends the connection's backend, or closes the connection while the backend continues, or does neither. The
// channel is closed when that has happened.
func (w *ticker) breakSometimes() <-chan struct{} {
	done := make(chan struct{})
	kind, conn := w.intN(12), w.conn
	wait := time.Duration(w.intN(6000)) * time.Microsecond
	go func() {
		defer close(done)
		switch kind {
		case 0:
			time.Sleep(wait) // a random delay, so that the break hits a random point of the call
			_, _ = w.pool.Exec(w.t.Context(), "select pg_terminate_backend($1)", conn.PgConn().PID())
		case 1:
			time.Sleep(wait)
			_ = conn.PgConn().Conn().Close()
		}
	}()
	return done
}

// A nodeLike worker schedules with the statement of Graphile Worker, one minute at a time and in the order of the items. It starts
// at the current time of the clock, and does not backfill.
type nodeLike struct {
	*simulation
	next      time.Time
	deadlocks int
}

func (w *nodeLike) die() { w.next = time.Time{} }

func (w *nodeLike) tick(now time.Time) {
	if w.next.IsZero() {
		w.next = now.Truncate(time.Minute).Add(time.Minute)
	}
	for ; !w.next.After(now); w.next = w.next.Add(time.Minute) {
		var specs []map[string]any
		for _, item := range w.due[w.next] {
			if item.TimeZone != "" {
				continue // Graphile Worker does not support time zones
			}
			specs = append(specs, map[string]any{"identifier": item.Identifier, "job": map[string]any{
				"task": "note", "runAt": w.next, "payload": map[string]any{
					"id": item.Identifier, "_cron": map[string]any{"ts": w.next, "backfilled": false}}}})
		}
		if specs == nil {
			continue
		}
		w.schedule(specs)
	}
}

// mostDeadlocks is the number of tolerated deadlocks. SKIP LOCKED does not wait for rows, but PostgreSQL may wait for the new
// version of a row whose update has just ended, which can cause a deadlock. That is rare, and the transaction can be retried.
const mostDeadlocks = 3

func (w *nodeLike) schedule(specs []map[string]any) {
	for {
		_, err := w.pool.Exec(w.t.Context(), nodeSchedules, specs, w.next)
		var refusal *pgconn.PgError
		if errors.As(err, &refusal) && refusal.Code == "40P01" && w.deadlocks < mostDeadlocks {
			w.deadlocks++
			w.t.Logf("tries again: %s", refusal.Detail)
			continue
		}
		if err != nil {
			w.t.Errorf("schedule as Node: %v", err)
		}
		return
	}
}

// nodeSchedules is the statement of graphile-worker 0.18 for the items that are due at $2: it locks and updates each row that is
// older, and adds the jobs of the updated rows.
const nodeSchedules = `
	with specs as (
	  select e.index, e.json ->> 'identifier' as identifier, e.json -> 'job' as job
	    from json_array_elements($1::json) with ordinality as e (json, index)
	), locks as (
	  insert into graphile_worker._private_known_crontabs as k (identifier, known_since, last_execution)
	  select s.identifier, $2::timestamptz, $2::timestamptz from specs as s
	      on conflict (identifier) do update set last_execution = excluded.last_execution
	   where k.last_execution is null or k.last_execution < excluded.last_execution
	  returning k.identifier
	)
	select graphile_worker.add_job(
	         s.job ->> 'task', s.job -> 'payload', s.job ->> 'queueName', coalesce((s.job ->> 'runAt')::timestamptz, now()),
	         (s.job ->> 'maxAttempts')::smallint, s.job ->> 'jobKey', (s.job ->> 'priority')::smallint, null,
	         s.job ->> 'jobKeyMode')
	  from specs as s
	  join locks as l on l.identifier = s.identifier
	 order by s.index`
