package interleave

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// A listener is a worker that waits: it searches for jobs when a world begins, when it is notified and when a job that
// it has seen becomes due, and never otherwise. Like a claim, it does not see the rows that others have locked. With
// the setting notify = idle it also does what fall_asleep requires.
//
// The sessions that claim are workers, too: a session that is notified during its claim searches again after it.
type listener struct {
	conn     *pgx.Conn
	notified bool
	known    view
	now      view
	looked   bool         // after the last end of a transaction
	inFlight []int64      // transactions after whose ends it looks again
	told     map[int]bool // the sessions that claim, and were notified since they began
}

// A view is the result of a worker's search for jobs.
type view struct {
	ready set   // the jobs that it could claim
	held  set   // those of them whose rows others have locked, or the rows of their queues
	due   int64 // when the next job is due, in microseconds since 1970; 0: none
}

// listened are the tables of which the listener skips locked rows.
var listened = set{"_private_jobs": true, "_private_job_queues": true}

// look reads a view: the jobs that are ready but for suspects, which heartbeats find.
const look = `
	with ready as (
	  select j.id, j.job_queue_id
	    from graphile_worker._private_jobs as j
	    left join graphile_worker._private_job_queues as q on q.id = j.job_queue_id
	   where j.is_available and j.run_at <= clock_timestamp() and q.locked_at is null
	     and j.job_queue_id is distinct from -2
	), jobs as (
	  select j.id from graphile_worker._private_jobs as j for update skip locked
	), queues as (
	  select q.id from graphile_worker._private_job_queues as q for update skip locked
	)
	select coalesce((select string_agg(r.id::text, ' ') from ready as r), ''),
	       coalesce((select string_agg(r.id::text, ' ')
	                   from ready as r
	                  where r.id not in (select j.id from jobs as j)
	                     or r.job_queue_id is not null and r.job_queue_id not in (select q.id from queues as q)), ''),
	       coalesce(graphile_worker._gw_lease(graphile_worker.next_run_at()), 0)`

func newListener(ctx context.Context, url string) (*listener, error) {
	l := &listener{}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	config.OnNotification = func(_ *pgconn.PgConn, n *pgconn.Notification) {
		l.notified = l.notified || n.Channel == "jobs:insert"
	}
	if l.conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return nil, fmt.Errorf("open the listening session: %w", err)
	}
	if _, err := l.conn.Exec(ctx, `listen "jobs:insert"`); err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}

func (l *listener) look(ctx context.Context) (err error) {
	var ready, held string
	if err := l.conn.QueryRow(ctx, look).Scan(&ready, &held, &l.now.due); err != nil {
		return fmt.Errorf("look at the queue: %w", err)
	}
	l.now.ready, l.now.held = words(ready), words(held)
	return nil
}

func words(text string) set {
	found := set{}
	for word := range strings.FieldsSeq(text) {
		found[word] = true
	}
	return found
}

// begin looks when a world begins.
func (l *listener) begin(ctx context.Context) error {
	err := l.look(ctx)
	l.known, l.notified, l.inFlight, l.told = l.now, false, nil, make(map[int]bool)
	return err
}

// An ending is the information of the listener about the end of a transaction.
type ending struct {
	session  int
	asleep   bool  // it is the one of fall_asleep
	claiming []int // the other sessions that claim, and have begun
}

// wake does what the workers do after a transaction has ended.
func (l *listener) wake(ctx context.Context, e ending) error {
	looks := e.asleep || l.told[e.session]
	if e.asleep {
		if err := l.conn.QueryRow(ctx, "select graphile_worker.still_in_flight()").Scan(&l.inFlight); err != nil {
			return fmt.Errorf("read what is in flight: %w", err)
		}
	} else if len(l.inFlight) > 0 {
		before := len(l.inFlight)
		if err := l.conn.QueryRow(ctx, "select graphile_worker.still_in_flight($1)",
			l.inFlight).Scan(&l.inFlight); err != nil {
			return fmt.Errorf("read what is in flight: %w", err)
		}
		looks = len(l.inFlight) < before
	}
	if err := l.look(ctx); err != nil {
		return err
	}
	if l.notified {
		for _, session := range e.claiming {
			l.told[session] = true
		}
	}
	if l.looked = looks || l.notified; l.looked {
		l.known, l.notified = l.now, false
	}
	return nil
}

// ended does what follows a step that has ended the transaction of a session.
func (d *driver) ended(ctx context.Context, s *session) error {
	if !s.done {
		return nil
	}
	return d.wake(ctx, s.number, fallsAsleep(d.world.sessions[s.number-1]))
}

// wake lets the workers do what they do after the end of a transaction of a session, or of none (0) whose worker still
// looks. They lock rows, which is not to count as what the next step does.
func (d *driver) wake(ctx context.Context, session int, asleep bool) error {
	e := ending{session: session, asleep: asleep}
	for i, s := range d.sessions {
		if s.next > 0 && !s.done && claims(d.world.sessions[i]) {
			e.claiming = append(e.claiming, s.number)
		}
	}
	if err := d.listener.wake(ctx, e); err != nil || d.watch.last == nil {
		return err
	}
	_, _, err := d.watch.changes(ctx, listened)
	return err
}

// missed returns the jobs of which the listener does not know at the end of a run. It may have missed jobs that a
// session which failed had locked.
func (l *listener) missed(failed bool) string {
	for _, id := range slices.Sorted(maps.Keys(l.now.ready)) {
		switch {
		case !l.known.ready[id]:
			return fmt.Sprintf("job %s is ready, and nobody has told the listener", id)
		case l.known.held[id] && !failed:
			return fmt.Sprintf("job %s is ready, and nobody has told the listener after its row was let go", id)
		}
	}
	if l.now.due != 0 && (l.known.due == 0 || l.now.due < l.known.due) {
		return "a job is due before the listener looks again, and nobody has told the listener"
	}
	return ""
}

// fallsAsleep reports whether a transaction is the one in which the listener falls asleep.
func fallsAsleep(t transaction) bool {
	return slices.ContainsFunc(t.calls, func(c call) bool { return strings.Contains(c.sql, "fall_asleep") })
}

// looksAtAll is the footprint of what the listener does when it has fallen asleep: it asks who has written something
// and is in flight, and looks at the queue.
func (d *driver) looksAtAll() footprint {
	return newFootprint().add(footprint{reads: d.prints.tables, writes: d.prints.tables})
}

// claims reports whether a transaction is that of a worker that claims.
func claims(t transaction) bool {
	return slices.ContainsFunc(t.calls, func(c call) bool { return strings.Contains(c.sql, "get_job") })
}
