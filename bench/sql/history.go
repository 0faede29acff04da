package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/report"
	"github.com/gwsql/gw/bench/internal/stats"
)

const (
	historyJobs  = 100_000
	historyDays  = 31
	historyDaily = 1_000_000 // a tenth of 10 million jobs a day
	historyReads = 20

	historyWAL   = 60.0  // bytes of WAL that a kept job adds in batches of 500
	historyByID  = 5.0   // milliseconds
	historyStats = 500.0 // milliseconds
)

// historyScenario measures what keeping a task costs, and reads a month of its history. It compares ours with itself.
func historyScenario(ctx context.Context, b *bench) error {
	if err := b.historyCosts(ctx); err != nil {
		return err
	}
	return b.historyMonth(ctx)
}

// A keeping is the speed and the WAL of jobs that are claimed and completed.
type keeping struct{ speed, wal stats.Series }

// historyCosts claims and completes jobs of a task that is not kept and of one that is.
func (b *bench) historyCosts(ctx context.Context) error {
	cases := []struct {
		name string
		kept bool
	}{{"nothing is kept", false}, {"the task is kept", true}}
	t := report.Table{{"batch", "case", "jobs/s", "to nothing kept", "WAL, B a job", "more WAL, B a job", "at most",
		"holds"}}
	err := b.With(ctx, map[string]string{"autovacuum": "off"}, func() error {
		for _, n := range []int{1, 10, 500} {
			found := make([]keeping, len(cases))
			for round := range b.Rounds {
				for _, i := range harness.Turns(round, []int{0, 1}) {
					speed, wal, err := b.measureKept(ctx, n, cases[i].kept)
					if err != nil {
						return fmt.Errorf("%s, batch %d: %w", cases[i].name, n, err)
					}
					found[i].speed, found[i].wal = append(found[i].speed, speed), append(found[i].wal, wal)
				}
			}
			for i, c := range cases {
				row := []string{fmt.Sprint(n), c.name, found[i].speed.Number(),
					found[i].speed.Over(found[0].speed).Ratio(), found[i].wal.Number(), "", "", ""}
				if more := difference(found[i].wal, found[0].wal); n == 500 && c.kept {
					row[5], row[6], row[7] = more.Number(), stats.Number(historyWAL), more.AtMost(historyWAL)
				} else if c.kept {
					row[5] = more.Number()
				}
				t.Add(row...)
			}
		}
		return nil
	})
	b.Note("%d ready plain jobs, claimed and completed over one connection; without payloads and results. Autovacuum and full page "+
		"images are off.", b.Scale(historyJobs))
	b.Table(t)
	return err
}

// difference is a minus b, round by round.
func difference(a, b stats.Series) (d stats.Series) {
	for i := range a {
		d = append(d, a[i]-b[i])
	}
	return d
}

// measureKept returns the jobs a second and the bytes of WAL of a job's claim and completion.
func (b *bench) measureKept(ctx context.Context, n int, kept bool) (speed, wal float64, err error) {
	db, err := b.copyOf(ctx, ours)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, db.Drop(context.WithoutCancel(ctx))) }()
	calls := b.Scale(historyJobs) / n / 10
	if n > 1 {
		calls *= 10
	}
	sqls := []string{queue.Fill(n * (calls + warmUp))}
	if kept {
		sqls = append(sqls, queue.Keep)
	}
	if err := db.Settle(ctx, sqls...); err != nil {
		return 0, 0, err
	}
	s, err := db.session(ctx)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.close(ctx)) }()
	if err := s.warmUp(ctx, n, nil); err != nil {
		return 0, 0, err
	}
	var seconds float64
	grown, err := db.walOf(ctx, func() error {
		began := time.Now()
		for range calls {
			if _, _, err := s.work(ctx, n, nil); err != nil {
				return err
			}
		}
		seconds = time.Since(began).Seconds()
		return nil
	})
	return float64(n*calls) / seconds, grown / float64(n*calls), err
}

// addDay adds the records of a day, %[1]d days ago: batches of 500 jobs of one of ten tasks, as a worker completes
// them, which were due at different times within a second. Every hundredth job has failed once.
const addDay = `
	insert into ` + queue.Schema + `._gw_ended
	  (slot, drop_on, first_id, last_id, task, outcome, worker_id, ended_at, job_ids, started_at, run_at, attempts, max_attempts, details)
	select 0, (d.day + interval '31 days')::date, d.first, d.first + 499, 'task' || d.batch %% 10, o.outcome, 'worker' || d.batch %% 7, d.at,
	       i.ids, array[d.at - interval '20 ms' * (1 + d.batch %% 100)],
	       array(select d.at - interval '3 s' - random() * interval '1 s' from unnest(i.ids)),
	       null, 25, case o.outcome when 'failed' then array['Error: no answer'] end
	  from (select day, batch, (%[2]d::bigint * (31 - %[1]d)) + batch * 500 + 1 as first, day + batch * interval '1 day' / (%[2]d / 500) as at
	          from date_trunc('day', now() - interval '%[1]d days') as day, generate_series(0, %[2]d / 500 - 1) as batch) as d
	 cross join (values ('failed'), ('completed')) as o (outcome)
	 cross join lateral (select array(select id from generate_series(d.first, d.first + 499) as id
	                                   where o.outcome = 'completed' or id %% 100 = 0) as ids) as i`

// historyMonth fills a month's history and reads it.
func (b *bench) historyMonth(ctx context.Context) (err error) {
	db, err := b.copyOf(ctx, ours)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Drop(context.WithoutCancel(ctx))) }()
	daily := b.Scale(historyDaily) / 500 * 500
	const q = queue.Schema
	for day := historyDays; day > 0; day-- {
		if err := db.Run(ctx, fmt.Sprintf(addDay, day, daily),
			"select "+q+"._gw_make_history(array(select distinct drop_on from "+q+"._gw_ended))",
			"select "+q+"._gw_pack_slot(0)", "truncate "+q+"._gw_ended_0"); err != nil {
			return err
		}
	}
	if err := db.Settle(ctx); err != nil {
		return err
	}
	var jobs, table, all float64
	if err := db.Admin.QueryRow(ctx, `
		select sum((counts ->> 'completed')::integer), (select sum(pg_table_size(inhrelid)) from pg_inherits where inhparent = '`+q+`._gw_history'::regclass),
		       (select sum(pg_total_relation_size(inhrelid)) from pg_inherits where inhparent = '`+q+`._gw_history'::regclass)
		  from `+q+`._gw_history`).Scan(&jobs, &table, &all); err != nil {
		return fmt.Errorf("ask for the size: %w", err)
	}
	id := fmt.Sprintf("(1 + (random() * %d)::bigint)", daily*(historyDays-1))
	t := report.Table{{"what", "found", "at most", "holds"}}
	t.Add("jobs", stats.Number(jobs), "", "")
	t.Add("bytes a job, table", stats.Number(table/jobs), "", "")
	t.Add("bytes a job, with indexes", stats.Number(all/jobs), "30", stats.Series{all / jobs}.AtMost(30))
	for _, read := range []struct {
		name, query string
		most        float64
	}{
		{"job_history of a job", "select * from " + q + ".job_history(" + id + ")", historyByID},
		{"list_history of a task's failures, 100 rows", "select * from " + q +
			".list_history(task => 'task3', failures => true)", 0},
		{"task_stats of a day", "select * from " + q +
			".task_stats('task3', now() - interval '8 days', now() - interval '7 days')", historyStats},
		{"task_stats of a month", "select * from " + q + ".task_stats('task3', now() - interval '31 days', now())", 0},
	} {
		times, err := db.times(ctx, read.query)
		if err != nil {
			return fmt.Errorf("%s: %w", read.name, err)
		}
		row := []string{read.name + ", ms", times.Number(), "", ""}
		if read.most > 0 {
			row[2], row[3] = stats.Number(read.most), times.AtMost(read.most)
		}
		t.Add(row...)
	}
	b.Note("%d days of %d jobs a day, of 10 tasks, 1 %% of which failed once, written in batches of 500 and packed day by day; one connection, "+
		"%d calls of each function.", historyDays, daily, historyReads)
	b.Table(t)
	return nil
}

// times returns the milliseconds of each of some runs of a query.
func (db *database) times(ctx context.Context, query string) (times stats.Series, err error) {
	for range historyReads {
		began := time.Now()
		if err := db.Run(ctx, query); err != nil {
			return nil, err
		}
		times = append(times, float64(time.Since(began).Microseconds())/1000)
	}
	return times, nil
}
