package limits

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const claim = `
	select id, task_identifier, payload::text, queue_name, lease, coalesce(streak, 0)
	  from graphile_worker.get_job_batch($1, case when $2 then array['narrow', 'wide', 'tenant', 'plain'] end, $3, queue_batch => $4)`

// worker claims jobs and ends them in every way that there is.
type worker struct {
	name    string
	url     string
	conn    *pgx.Conn
	rand    *rand.Rand
	running *running
	conditions
	held []job // those that run
}

func (w *worker) run(ctx context.Context, done func() bool) error {
	for {
		if err := w.step(ctx, done()); err != nil && !isLoss(err) {
			return fmt.Errorf("%s: %w", w.name, err)
		} else if err != nil {
			if err := w.reconnect(ctx); err != nil {
				return err
			}
		}
		if done() && len(w.held) == 0 {
			var left bool
			err := w.conn.QueryRow(ctx, "select exists (select from graphile_worker._private_jobs where is_available or locked_at is not null)").Scan(&left)
			if err != nil && !isLoss(err) {
				return err
			} else if err == nil && !left {
				return nil
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func (w *worker) step(ctx context.Context, draining bool) error {
	if len(w.held) < 12 {
		if err := w.claim(ctx, 1+w.rand.IntN(6)); err != nil {
			return err
		}
	}
	for len(w.held) > 0 && (draining || w.rand.IntN(3) > 0) {
		if err := w.end(ctx, draining); err != nil {
			return err
		}
	}
	return nil
}

func (w *worker) claim(ctx context.Context, count int) error {
	w.running.claims.Add(1)
	rows, err := w.conn.Query(ctx, claim, w.name, w.rand.IntN(3) == 0, count, 1+w.rand.IntN(4))
	if err != nil {
		return err
	}
	streaks := map[int]*streak{}
	claimed, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (j job, err error) {
		var id int
		err = row.Scan(&j.id, &j.task, &j.payload, &j.queue, &j.lease, &id)
		if id != 0 {
			if streaks[id] == nil {
				streaks[id] = &streak{}
			}
			j.streak = streaks[id]
		}
		return j, err
	})
	if err != nil {
		return err
	}
	for _, j := range claimed {
		if s := j.streak; s != nil && s.runs {
			s.rest = append(s.rest, j)
		} else {
			w.start(j)
		}
	}
	return nil
}

func (w *worker) start(j job) {
	if j.streak != nil {
		j.streak.runs = true
	}
	w.running.start(w.name, j)
	w.held = append(w.held, j)
}

// end ends one of the jobs, or all of them. The counter goes down before the database can know.
func (w *worker) end(ctx context.Context, draining bool) error {
	place := w.rand.IntN(len(w.held))
	j := w.held[place]
	ways := 11
	if draining {
		ways = 3
	}
	way := w.rand.IntN(ways)
	switch {
	case way == 10:
		ended := w.held
		w.held = nil
		for _, j := range ended {
			w.running.end(j)
		}
		_, err := w.conn.Exec(ctx, "select graphile_worker.force_unlock_workers(array[$1])", w.name)
		return err
	case way == 9:
		return w.renew(ctx)
	case way == 8 && (!w.raw || j.queue != nil):
		return nil // the queue of a serial job that is deleted by hand stays locked until somebody looks for stale locks
	}
	w.held = append(w.held[:place], w.held[place+1:]...)
	w.running.end(j)
	if s := j.streak; s != nil {
		s.runs = false
		if len(s.rest) > 0 {
			next := s.rest[0]
			s.rest = s.rest[1:]
			defer w.start(next)
		}
	}
	_, err := w.conn.Exec(ctx, []string{
		"select graphile_worker.complete_job($1, $2, $3)",
		"select graphile_worker.complete_job_batch($1, array[$2::bigint], array[$3::bigint])",
		"select graphile_worker._gw_complete_claim($1, array[$2::bigint], $3)",
		"select graphile_worker.complete_job($1, $2, $3)",
		"select graphile_worker.complete_job_batch($1, array[$2::bigint], array[$3::bigint])",
		"select graphile_worker._gw_complete_claim($1, array[$2::bigint], $3)",
		"select graphile_worker.fail_job($1, $2, 'test', $3, retry_in => interval '0')",
		"select graphile_worker.return_job($1, $2, $3)",
		"delete from graphile_worker._private_jobs where id = $2 and $1 <> '' and $3::bigint > 0",
	}[way], w.name, j.id, j.lease)
	return err
}

func (w *worker) renew(ctx context.Context) error {
	var ids, leases []int64
	all := w.all()
	for _, j := range all {
		ids, leases = append(ids, j.id), append(leases, j.lease)
	}
	rows, err := w.conn.Query(ctx, "select job_id, lease from graphile_worker.renew_leases($1, $2, $3, '1 microsecond')", w.name, ids, leases)
	if err != nil {
		return err
	}
	renewed := map[int64]int64{}
	var id, lease int64
	if _, err := pgx.ForEachRow(rows, []any{&id, &lease},
		func() error { renewed[id] = lease; return nil }); err != nil {
		return err
	}
	for _, j := range all {
		if lease, ok := renewed[j.id]; ok {
			j.lease = lease
		} else {
			return fmt.Errorf("job %d is lost", j.id)
		}
	}
	return nil
}

// all returns the jobs that run, and the others of their streaks.
func (w *worker) all() (all []*job) {
	streaks := map[*streak]bool{}
	for n := range w.held {
		all = append(all, &w.held[n])
		if s := w.held[n].streak; s != nil && !streaks[s] {
			streaks[s] = true
			for m := range s.rest {
				all = append(all, &s.rest[m])
			}
		}
	}
	return all
}

// reconnect opens a new session after its old one was killed, and gives everything back: an outcome or a claim may have
// been committed without an answer.
func (w *worker) reconnect(ctx context.Context) error {
	_ = w.conn.Close(ctx)
	conn, err := pgx.Connect(ctx, w.url)
	if err != nil {
		return err
	}
	w.conn = conn
	for _, j := range w.held {
		w.running.end(j)
	}
	w.held = nil
	_, err = conn.Exec(ctx, "select graphile_worker.return_unknown_jobs($1, '{}')", w.name)
	if isLoss(err) {
		return w.reconnect(ctx)
	}
	return err
}

// isLoss returns whether an error is of a session that was killed.
func isLoss(err error) bool {
	if err == nil {
		return false
	}
	var fault *pgconn.PgError
	if errors.As(err, &fault) {
		return fault.Code == "57P01"
	}
	text := err.Error()
	return strings.Contains(text, "unexpected EOF") || strings.Contains(text, "conn closed") ||
		strings.Contains(text, "reset by peer") ||
		strings.Contains(text, "broken pipe")
}
