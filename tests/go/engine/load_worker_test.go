package engine

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

// claimOrSleep is the statement of our worker: without jobs it reads when to look again, in the same statement.
const claimOrSleep = `
	with asleep as materialized (
	  select extract(epoch from f.next_run_at - clock_timestamp())::float8 as due_in, f.must_look_again from gw.fall_asleep($1, $2, interval '1 minute') as f
	)
	select j.id, coalesce(j.task_identifier, ''), j.queue_name, coalesce(j.lease, 0), case when j.id is null then (select a.due_in from asleep as a) end
	  from (values (1)) as always (one)
	  left join gw.get_job_batch($1, $2, $3) as j on true`

// overLimit notes what runs of a claim beyond the fixed limits or beside another job of its queue; the claim's
// transaction still holds them.
const overLimit = `
	insert into public.over (what)
	select distinct format('%s jobs run at %s %s', w.running, w.name, w.key)
	  from gw._private_jobs as j
	  join gw._private_tasks as t on t.id = j.task_id
	 cross join lateral (
	       select 'narrow' as name, '' as key, 2 as most, (select count(*) from gw._private_jobs as o join gw._private_tasks as u on u.id = o.task_id where u.identifier in ('b', 'c') and o.locked_by like 'w%') as running
	        where t.identifier in ('b', 'c')
	       union all
	       select 'fixed', 'all', 5, (select count(*) from gw._private_jobs as o join gw._private_tasks as u on u.id = o.task_id where u.identifier in ('a', 'b') and o.payload ->> 'c' is not null and o.locked_by like 'w%')
	        where t.identifier in ('a', 'b') and j.payload ->> 'c' is not null
	       union all
	       select 'fixed', j.payload ->> 'c', 2, (select count(*) from gw._private_jobs as o join gw._private_tasks as u on u.id = o.task_id where u.identifier in ('a', 'b') and o.payload ->> 'c' = j.payload ->> 'c' and o.locked_by like 'w%')
	        where t.identifier in ('a', 'b')) as w
	 where j.id = any ($1) and w.running > w.most`

type loadJob struct {
	id    int64
	task  string
	queue *string
	lease int64
}

// work claims and ends jobs until there are none and everybody else has stopped. It claims when it is notified, or when
// next_run_at says so, and otherwise after 20 seconds, when it must not find a job that was due long ago.
func (l *load) work(ctx, drained context.Context, calm <-chan struct{}, name string, r *rand.Rand) error {
	var conn *pgx.Conn
	defer func() {
		if conn != nil {
			_ = conn.Close(context.WithoutCancel(ctx))
		}
	}()
	var held []loadJob
	polled := false
	for ctx.Err() == nil {
		err := func() error {
			if conn == nil || conn.IsClosed() {
				var err error
				if conn, err = pgx.Connect(ctx, l.conn.Config().ConnString()); err != nil {
					return err
				}
				l.forget(held)
				held = nil
				if err := exec(ctx, conn, "select gw.return_unknown_jobs($1, '{}')", name); err != nil {
					return err
				}
				if err := exec(ctx, conn, `listen "jobs:insert"`); err != nil {
					return err
				}
			}
			jobs, in, err := l.claimSome(ctx, conn, name, r)
			if err != nil {
				return err
			}
			if polled && len(jobs) > 0 && !l.raw {
				l.find("a worker finds the job %d by a poll: nothing has told of it", jobs[0].id)
			}
			polled = false
			held = append(held, jobs...)
			if len(held) > 0 {
				return l.endSome(ctx, conn, name, r, &held)
			}
			select {
			case <-calm:
				var left bool
				if err := conn.QueryRow(ctx, schema(jobsAreLeft)).Scan(&left); err != nil {
					return err
				} else if !left {
					return errDone
				}
			default:
			}
			patience := 20 * time.Second
			if in != nil {
				patience = min(patience, max(0, time.Duration(*in*float64(time.Second))))
			}
			if !l.raw && patience > 20*time.Second-time.Millisecond {
				polled = true
			}
			waiting, cancel := context.WithTimeout(drained, patience)
			defer cancel()
			if l.raw && patience > 500*time.Millisecond { // what somebody changes by hand, nobody tells of
				waiting, cancel = context.WithTimeout(drained, 500*time.Millisecond)
				defer cancel()
			}
			_, err = conn.WaitForNotification(waiting)
			if waiting.Err() != nil {
				polled = polled && drained.Err() == nil
				return nil
			}
			polled = false
			return err
		}()
		switch {
		case errors.Is(err, errDone):
			return nil
		case err != nil && !isLoss(err):
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return fmt.Errorf("%s: jobs are left", name)
}

var errDone = errors.New("done")

// claimSome makes a claim, whose transaction may stay open for a while.
func (l *load) claimSome(ctx context.Context, conn *pgx.Conn, name string,
	r *rand.Rand) (jobs []loadJob, in *float64, err error) {
	tasks := pick(r, nil, nil, []string{"a", "b"}, []string{"b", "c"}, []string{"a", "d"})
	tx, err := conn.Begin(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }()
	rows, err := tx.Query(ctx, schema(claimOrSleep), name, tasks, 1+r.IntN(6))
	if err != nil {
		return nil, nil, err
	}
	var ids []int64
	for rows.Next() {
		var id *int64
		var j loadJob
		if err := rows.Scan(&id, &j.task, &j.queue, &j.lease, &in); err != nil {
			return nil, nil, err
		}
		if id != nil {
			j.id = *id
			jobs, ids = append(jobs, j), append(ids, j.id)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, nil, err
	}
	if len(ids) > 0 {
		if _, err := tx.Exec(ctx, schema(overLimit), ids); err != nil {
			return nil, nil, err
		}
	}
	if r.IntN(40) == 0 {
		time.Sleep(time.Duration(r.IntN(100)) * time.Millisecond)
	}
	if r.IntN(40) == 0 {
		return nil, new(float64), tx.Rollback(ctx)
	}
	if err := tx.Commit(ctx); err != nil {
		return nil, nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, j := range jobs {
		if by, runs := l.runs[j.id]; runs && !l.raw {
			l.findings = append(l.findings, fmt.Sprintf("job %d of %s runs twice, for %s", j.id, by, name))
		}
		l.runs[j.id] = name
		if j.queue != nil {
			if other, runs := l.queues[*j.queue]; runs && !l.raw {
				l.findings = append(l.findings, fmt.Sprintf("in the queue %s run the jobs %d and %d", *j.queue, other,
					j.id))
			}
			l.queues[*j.queue] = j.id
		}
	}
	if len(jobs) == 0 && tasks != nil {
		in = new(float64) // another worker of this name would serve the rest
		if r.IntN(2) == 0 {
			*in = 0.005
		}
	}
	return jobs, in, nil
}

// forget notes that jobs do not run any more, before the database can know.
func (l *load) forget(jobs []loadJob) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, j := range jobs {
		delete(l.runs, j.id)
		if j.queue != nil && l.queues[*j.queue] == j.id {
			delete(l.queues, *j.queue)
		}
	}
}

// endSome ends some of the jobs in one way or another.
func (l *load) endSome(ctx context.Context, conn *pgx.Conn, name string, r *rand.Rand, held *[]loadJob) error {
	for len(*held) > 0 && (len(*held) > 6 || r.IntN(3) > 0) {
		j := (*held)[0]
		*held = (*held)[1:]
		l.forget([]loadJob{j})
		way := r.IntN(14)
		sql := "select gw.complete_job($1, $2, $3)"
		started := time.UnixMicro(j.lease)
		switch way {
		case 0:
			sql = "select gw.fail_job($1, $2, 'x', $3, retry_in => interval '0')"
		case 1:
			sql, started = "select gw.return_job($1, $2, $3)", time.Time{}
		case 2:
			sql, started = "select gw.rate_limited($1, $2, $3, interval '30 ms')", time.Time{}
		case 3:
			sql = "select gw.complete_job_batch($1, array[$2::bigint], array[$3::bigint])"
		case 4:
			sql = `select gw.fail_job_batch($1, json_build_array(json_build_object('id', $2::bigint, 'lease', $3::bigint, 'message', 'm', 'retry_in', 0, 'payload', '{"c":"y"}'::json)))`
		case 5:
			sql = "select gw._gw_complete_claim($1, array[$2::bigint], $3)"
		}
		if err := exec(ctx, conn, sql, name, j.id, j.lease); err != nil {
			return err
		}
		l.mu.Lock()
		l.ended++
		if j.task == "d" && !started.IsZero() {
			l.started = append(l.started, started)
		}
		l.mu.Unlock()
	}
	if r.IntN(6) == 0 {
		time.Sleep(time.Duration(r.IntN(10)) * time.Millisecond)
	}
	return nil
}
