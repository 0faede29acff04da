package adversary

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	drainTime = 15 * time.Second
	quietTime = 4 * time.Second
	// settleTime is how long workers may take to end their jobs and to fall asleep.
	settleTime = time.Second
	// A worker looks at least each poll, beats and ticks.
	pollEvery = 2 * time.Second
	beatEvery = 5 * time.Second
	// perJob is how many statements a job may cost that comes alone, and perRound how many a look for jobs.
	perJob, perRound = 8, 3
)

// served is the condition of jobs that the workers can run.
const served = `
	  from graphile_worker._private_jobs as j
	  join graphile_worker._private_tasks as t on t.id = j.task_id
	  left join graphile_worker._private_job_queues as q on q.id = j.job_queue_id
	 where t.identifier in ('honest-shim', 'honest-run', 'honest-sql', 'hostile-shim', 'hostile-run', 'hostile-sql')
	   and j.locked_at is null and q.locked_at is null and j.attempts < j.max_attempts`

// beQuiet stops all callers, ends limits and pauses, waits until all runnable jobs have run and all jobs are
// where they belong without limits, and counts the statements of idle workers.
func (tr *trial) beQuiet() error {
	tr.gate.Lock()
	defer tr.gate.Unlock()
	if err := tr.freeAll(); err != nil {
		return err
	}
	for began := time.Now(); ; sleep(tr.ctx, 20*time.Millisecond) {
		var left, soon int
		err := tr.owner.QueryRow(tr.ctx, `
			select count(*) filter (where j.run_at <= now()), count(*) filter (where j.run_at < now() + $1::float8 * interval '1 second')`+served,
			(2*quietTime).Seconds()).Scan(&left, &soon)
		if err != nil {
			return fmt.Errorf("count what is left: %w", err)
		}
		lasted := time.Since(began)
		if left == 0 && (soon == 0 || lasted > quietTime) {
			break
		}
		if lasted-tr.control.worst(began, time.Now()) > drainTime {
			reasons, err := tr.heldBack()
			tr.violate(backlogIsWorked, "%d jobs were not done in %s: %s", left, lasted, reasons)
			return err
		}
	}
	if err := tr.peel(); err != nil {
		return err
	}
	return tr.countStatements()
}

// freeAll drops the limits and ends the pauses that hostile admins have made.
func (tr *trial) freeAll() error {
	_, err := tr.owner.Exec(tr.ctx, `
		select graphile_worker.resume(p.task, p.queue, p.limit_name, p.lane) from graphile_worker.list_pauses() as p`)
	if err == nil {
		_, err = tr.owner.Exec(tr.ctx, "select graphile_worker.drop_limit(l.name) from graphile_worker.list_limits() as l")
	}
	if err != nil {
		return fmt.Errorf("end limits and pauses: %w", err)
	}
	return nil
}

// heldBack returns what why says of the runnable jobs that are left.
func (tr *trial) heldBack() (reasons string, err error) {
	err = tr.owner.QueryRow(tr.ctx, `
		select coalesce(string_agg(format('%s (%s): %s, %s', l.id, l.identifier, w.reason, w.detail), E'\n'), '')
		  from (select j.id, t.identifier `+served+` and j.run_at <= now() order by j.id limit 20) as l
		 cross join lateral graphile_worker.why(l.id) as w`).Scan(&reasons)
	if err != nil {
		return "", fmt.Errorf("ask why jobs are left: %w", err)
	}
	return reasons, nil
}

// peel removes hostile jobs that are due before another one, so that each distant time in turn becomes the next due
// time.
func (tr *trial) peel() error {
	_, err := tr.owner.Exec(tr.ctx, `
		delete from graphile_worker._private_jobs as d
		 where d.id in (select j.id `+served+` and j.run_at > now() and t.identifier like 'hostile%')
		   and d.run_at < (select c.run_at
		                     from (select distinct j.run_at `+served+` and j.run_at > now()) as c
		                    order by md5(c.run_at::text || $1::text)
		                    limit 1)`, fmt.Sprint(tr.seed, tr.quietMoments))
	if err != nil {
		return fmt.Errorf("remove jobs: %w", err)
	}
	return nil
}

// countStatements waits until the workers have fallen asleep, then samples which statement each session of the workers
// has made last. It may miss some, and makes none up. A worker that falls asleep also asks for the end of each
// transaction that is in flight then, in any database of the server, for as long as that transaction lasts: these
// questions depend on others, and are left out.
func (tr *trial) countStatements() error {
	seen := make(map[string]map[string]string) // the text of each statement by its session and start
	before, due, err := tr.comingJobs()
	if err != nil {
		return err
	}
	sleep(tr.ctx, settleTime)
	began := time.Now()
	for time.Since(began) < quietTime && tr.ctx.Err() == nil {
		rows, _ := tr.server.Query(tr.ctx, `
			select a.application_name, a.pid || ' ' || a.query_start::text, left(regexp_replace(a.query, '\s+', ' ', 'g'), 120)
			  from pg_stat_activity as a
			 where a.datname = current_database() and a.application_name in ('shim worker', 'gw-run worker') and a.query_start is not null
			   and a.query not like '%still_in_flight%'`) // the error comes again
		var worker, statement, text string
		_, err := pgx.ForEachRow(rows, []any{&worker, &statement, &text}, func() error {
			if seen[worker] == nil {
				seen[worker] = make(map[string]string)
			}
			seen[worker][statement] = text
			return nil
		})
		if err != nil {
			return fmt.Errorf("look at sessions: %w", err)
		}
		sleep(tr.ctx, 10*time.Millisecond)
	}
	after, _, err := tr.comingJobs()
	if err != nil {
		return err
	}
	lasted := time.Since(began)
	jobs := due + int(after-before)
	rounds := int(lasted/pollEvery) + int(lasted/beatEvery) + 3
	for _, worker := range []string{"shim worker", "gw-run worker"} {
		switch asked := len(seen[worker]); {
		case asked == 0 && tr.ctx.Err() == nil:
			return fmt.Errorf("%s has no session", worker)
		case asked > rounds*perRound+jobs*perJob:
			tr.violate(idleIsQuiet, "%s: %d statements in %s, with %d jobs: %q", worker, asked, lasted, jobs,
				slices.Sorted(maps.Values(seen[worker])))
		}
	}
	tr.quietMoments++
	return nil
}

// comingJobs returns the number of ids so far, and the number of jobs that become due before the quiet period ends.
func (tr *trial) comingJobs() (ids int64, due int, err error) {
	err = tr.owner.QueryRow(tr.ctx, `
		select pg_sequence_last_value(pg_get_serial_sequence('graphile_worker._private_jobs', 'id')), (select count(*)`+served+`
		   and j.run_at < now() + $1::float8 * interval '1 second')`,
		(settleTime+quietTime+time.Second).Seconds()).Scan(&ids, &due)
	if err != nil {
		return 0, 0, fmt.Errorf("count the jobs that come: %w", err)
	}
	return ids, due, nil
}
