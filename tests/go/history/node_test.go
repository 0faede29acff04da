package history

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/tests/go/nodegw"
)

var withNode = profile{name: "a Node worker among 8 sessions on 30 keys", producers: 3, claimers: 3, admins: 1,
	keys: 30, queues: 3, killEvery: 150}

// Node's handlers record the claim from the table, and when they began and ended. If the lease ended before the handler
// read it, they record what Node knows: the time of the claim only in milliseconds, and no queue.
const (
	nodeTables = `
		create table node_runs (number bigint generated always as identity, worker text, claim text[], started bigint, ended bigint);
		create table node_unlocks (worker text, started bigint, ended bigint)`

	// Now and then a handler frees its own job, as if its lock had expired, waits for another worker to claim it, and
	// then succeeds.
	nodeTask = `
		const clock = "(extract(epoch from clock_timestamp()) * 1000000)::bigint";
		const { rows: [held] } = await helpers.query(` + "`" + `
		  insert into node_runs (worker, claim, started)
		  select $1, array[` + nodeClaim + `], ${clock}
		    from (select j.*, q.queue_name, t.identifier as task_identifier, graphile_worker._gw_lease(j.locked_at) as lease
		            from graphile_worker._private_jobs as j
		            left join graphile_worker._private_job_queues as q on q.id = j.job_queue_id
		            left join graphile_worker._private_tasks as t on t.id = j.task_id
		           where j.id = $2 and j.locked_by = $1) as j
		  returning number` + "`" + `, [helpers.job.locked_by, helpers.job.id]);
		const job = helpers.job;
		const { rows: [run] } = held ? { rows: [held] } : await helpers.query(
		  "insert into node_runs (worker, claim, started) values ($1, $2, " + clock + ") returning number",
		  [job.locked_by, [job.id, job.key, job.revision, JSON.stringify(job.payload), 0, 0, job.attempts, job.max_attempts, "f",
		    null, job.task_identifier, "f", job.locked_at.getTime() * 1000].map((v) => v === null ? null : String(v))]);
		const free = "update graphile_worker._private_jobs set locked_at = null, locked_by = null"
		  + " where id = $1 and locked_by = $2 and job_queue_id is null";
		const { rows: [before] } = await helpers.query("select " + clock + " as now");
		if (held && Number(job.id) % 15 === 0 && (await helpers.query(free, [job.id, job.locked_by])).rowCount === 1) {
		  await helpers.query("insert into node_unlocks values ($1, $2, " + clock + ")", [helpers.job.locked_by, before.now]);
		  for (let looks = 0; looks < 300; looks++) {
		    const { rows: [now] } = await helpers.query(
		      "select locked_by from graphile_worker._private_jobs where id = $1 and locked_at is not null", [helpers.job.id]);
		    if (now && now.locked_by !== helpers.job.locked_by) break;
		  }
		}
		await helpers.query("update node_runs set ended = " + clock + " where number = $1", [run.number]);`

	leftByNode = `
		select coalesce(array_agg(distinct l.locked_by), '{}')
		  from (select j.locked_by from graphile_worker._private_jobs as j
		         union
		        select q.locked_by from graphile_worker._private_job_queues as q) as l
		 where l.locked_by like 'pool-%'`

	nodeClaim = `
		j.id::text, j.key, j.revision::text, j.payload::text, j.priority::text,
		(extract(epoch from j.run_at) * 1000000)::bigint::text, j.attempts::text, j.max_attempts::text, 'f', j.queue_name,
		j.task_identifier, case when j.flags is null then 'f' else 't' end, j.lease::text`
)

func TestBesideANodeWorkerTheRulesHoldButForItsOwnDefects(t *testing.T) {
	seed := *seedFlag
	r := newRun(t, withNode, seed, min(*callsFlag, 20000))
	pgtest.Exec(t, pgtest.Pool(t, r.url), nodeTables)
	node := nodegw.Start(t, nodegw.Options{
		DatabaseURL: r.url, Tasks: map[string]string{tasks[0]: nodeTask}, Concurrency: 4, LocalQueue: 10,
		PollInterval: 50 * time.Millisecond,
	})
	r.stopOthers = func(ctx context.Context) ([]*event, error) {
		node.Stop()
		// It may leave behind what it was just claiming.
		for _, left := range pgtest.Value[[]string](t, pgtest.Pool(t, r.url), leftByNode) {
			r.bury(left)
		}
		return r.nodeEvents(ctx)
	}
	judge(t, r)
}

// bytesOf returns the values of columns, nil for null.
func bytesOf(columns []*string) [][]byte {
	values := make([][]byte, len(columns))
	for i, column := range columns {
		if column != nil {
			values[i] = []byte(*column)
		}
	}
	return values
}

// nodeEvents returns the events that Node's handlers recorded: one claim for each batch, and for each run the outcome
// that Node reported after it.
func (r *run) nodeEvents(ctx context.Context) ([]*event, error) {
	conn, err := pgx.Connect(ctx, r.url)
	if err != nil {
		return nil, fmt.Errorf("open a session: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	var now micros
	if err := conn.QueryRow(ctx, clock).Scan(&now); err != nil {
		return nil, fmt.Errorf("read the clock: %w", err)
	}
	var events []*event
	note := func(e *event) {
		e.session, e.number = -2, len(events)+1
		events = append(events, e)
	}
	rows, err := conn.Query(ctx, "select worker, claim, started, ended from node_runs order by number")
	if err != nil {
		return nil, err
	}
	batches := map[lease]*event{} // by worker and locked_at
	var worker string
	var columns []*string
	var started int64
	var ended *int64
	_, err = pgx.ForEachRow(rows, []any{&worker, &columns, &started, &ended}, func() error {
		c, err := readClaim(bytesOf(columns))
		if err != nil {
			return err
		}
		batch := batches[lease{worker: worker, at: c.leasedAt}]
		if batch == nil {
			batch = &event{kind: claim, worker: worker, code: reported, start: c.leasedAt, end: micros(started)}
			batches[lease{worker: worker, at: c.leasedAt}] = batch
			note(batch)
		}
		batch.end = min(batch.end, micros(started))
		batch.rows = append(batch.rows, c)
		if ended != nil {
			note(&event{
				kind: complete, worker: worker, code: unknown, leases: []lease{{worker, c.id, c.leasedAt}},
				start: micros(*ended), end: now,
			})
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read what Node did: %w", err)
	}
	r.counts["job of a Node worker"] = len(events) - len(batches)

	rows, err = conn.Query(ctx, "select worker, started, ended from node_unlocks")
	if err != nil {
		return nil, err
	}
	var from, to int64
	_, err = pgx.ForEachRow(rows, []any{&worker, &from, &to}, func() error {
		note(&event{kind: unlock, worker: worker, start: micros(from), end: micros(to)})
		r.counts["job taken from a Node worker"]++
		return nil
	})
	return events, err
}
