package gotest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// many is the number of elements of the arguments of a call. Its square is far above mostRows.
const (
	many     = 3000
	mostRows = 100 * many // that a node of a plan may handle, versions of rows that are dead included
)

// bigCall is a call about many jobs. It may use $ids and $leases, the jobs that are in the queue and, if held is set, that the worker
// has claimed.
type bigCall struct {
	name   string
	before string // in the same transaction
	add    string // the spec of each job that is in the queue, with its number n; empty for none
	held   bool
	sql    string
}

const (
	plainSpec = `row('a', '{"a":1}', null, null, null, null, null, null)`
	keyedSpec = `row('a', '[1]', null, null, null, 'key' || n, null, '{f}')`
	namedSpec = `row('task' || n, null, 'queue' || n, null, null, null, null, null)`
)

func addMany(spec string) string {
	return fmt.Sprintf("select count(*) from graphile_worker.add_jobs(array(select %s::graphile_worker.job_spec from generate_series(1, %d) as n))", spec, many)
}

var bigCalls = []bigCall{
	{name: "add_jobs", sql: addMany(plainSpec)},
	{name: "add_jobs with new keys", sql: addMany(keyedSpec)},
	{name: "add_jobs with the keys of waiting jobs", add: keyedSpec, sql: addMany(keyedSpec)},
	{name: "add_jobs, half with the keys of waiting jobs", add: keyedSpec,
		sql: addMany(`row('a', '[1]', null, null, null, case when n % 4 > 0 then 'key' || case when n % 4 = 1 then n else -n end end, null, null)`)},
	{name: "add_jobs with the keys of running jobs", add: keyedSpec, held: true, sql: addMany(keyedSpec)},
	{name: "add_jobs with new names", sql: addMany(namedSpec)},
	{name: "add_jobs with names", add: namedSpec, sql: addMany(namedSpec)},
	{name: "get_job_batch", add: plainSpec, sql: "select count(*) from graphile_worker.get_job_batch('worker', batch_size => 1000)"},
	{name: "get_job_batch of queues", add: namedSpec,
		sql: "select count(*) from graphile_worker.get_job_batch('worker', batch_size => 1000)"},
	{name: "complete_job_batch", add: plainSpec, held: true,
		sql: "select count(*) from graphile_worker.complete_job_batch('worker', $ids, $leases)"},
	{name: "complete_job_batch of queues", add: namedSpec, held: true,
		sql: "select count(*) from graphile_worker.complete_job_batch('worker', $ids, $leases)"},
	{name: "complete_job_batch with results", add: plainSpec, held: true,
		before: "select graphile_worker.expect_result(j.id) from graphile_worker._private_jobs as j",
		sql:    "select count(*) from graphile_worker.complete_job_batch('worker', $ids, $leases, array(select '1'::json from unnest($ids)))"},
	{name: "complete_job_batch with results of a kept task", add: plainSpec, held: true,
		before: "select graphile_worker.keep_task('a', '1 day', payloads => true, results => true)",
		sql:    "select count(*) from graphile_worker.complete_job_batch('worker', $ids, $leases, array(select '1'::json from unnest($ids)))"},
	{name: "return_job_batch", add: plainSpec, held: true,
		sql: "select count(*) from graphile_worker.return_job_batch('worker', $ids, $leases)"},
	{name: "fail_job_batch", add: plainSpec, held: true,
		sql: `select count(*) from graphile_worker.fail_job_batch('worker', (
		select json_agg(json_build_object('id', h.id, 'lease', h.lease, 'message', 'm')) from unnest($ids, $leases) as h (id, lease)))`},
	{name: "renew_leases", add: plainSpec, held: true,
		sql: "select count(*) from graphile_worker.renew_leases('worker', $ids, $leases, older_than => '0')"},
	{name: "heartbeat", add: plainSpec, held: true,
		sql: "select count(*) from graphile_worker.heartbeat('worker', $ids, $leases)"},
	{name: "return_unknown_jobs", add: plainSpec, held: true,
		sql: "select graphile_worker.return_unknown_jobs('worker', $ids)"},
	{name: "cancel_jobs", add: plainSpec, sql: "select count(*) from graphile_worker.cancel_jobs($ids, 'r')"},
	{name: "cancel_jobs of running jobs", add: plainSpec, held: true,
		sql: "select count(*) from graphile_worker.cancel_jobs($ids, 'r')"},
	{name: "complete_jobs", add: plainSpec, sql: "select count(*) from graphile_worker.complete_jobs($ids)"},
	{name: "permanently_fail_jobs", add: plainSpec,
		sql: "select count(*) from graphile_worker.permanently_fail_jobs($ids, 'r')"},
	{name: "reschedule_jobs", add: plainSpec, sql: "select count(*) from graphile_worker.reschedule_jobs($ids, priority => 1)"},
	{name: "retry_jobs", add: plainSpec, sql: "select count(*) from graphile_worker.retry_jobs($ids)"},
	{name: "await_jobs and job_results", add: plainSpec,
		before: "select graphile_worker.await_jobs(array(select id from graphile_worker._private_jobs))",
		sql:    "select count(*) from graphile_worker.job_results($ids || array(select -n::bigint from generate_series(1, 100) as n))"},
	{name: "show_jobs", add: plainSpec, sql: "select count(*) from graphile_worker.show_jobs($ids)"},
}

// A table that was analyzed while it was empty looks as if it had one row, until it is analyzed again: a plan with nested loops is
// made for a call with thousands of elements.
func TestNoCallIsQuadraticInItsArguments(t *testing.T) {
	d := newDatabase(t)
	e := d.explainer()
	pool := pgtest.Pool(t, d.url)
	for _, table := range strings.Fields(pgtest.Value[string](t, pool, `
		select string_agg(c.oid::regclass::text, ' ') from pg_class as c
		 where c.relnamespace = 'graphile_worker'::regnamespace and c.relkind = 'r'`)) {
		e.exec("alter table " + table + " set (autovacuum_enabled = off)")
	}
	for _, c := range bigCalls {
		t.Run(c.name, func(t *testing.T) {
			for _, fault := range c.faults(e) {
				t.Error(fault)
			}
		})
	}
}

// faults makes the call in a transaction that it rolls back, and returns the plans with a node that handles too many rows.
func (c bigCall) faults(e *explainer) (faults []string) {
	e.t.Helper()
	for _, table := range []string{"_private_jobs", "_private_job_queues", "_private_tasks", "_gw_expected",
		"_gw_ended"} {
		e.exec("vacuum analyze graphile_worker." + table)
	}
	e.exec("begin")
	defer e.exec("rollback")
	if c.add != "" {
		e.exec(addMany(c.add))
	}
	var ids, leases []int64
	if c.held {
		e.exec("select graphile_worker.register_worker('worker', '{a}', 1, 'h', 1, '1')")
		for len(ids) < many {
			var someIDs, someLeases []int64
			err := e.conn.QueryRow(e.t.Context(), `
				select array_agg(b.id order by b.id), array_agg(b.lease order by b.id)
				  from graphile_worker.get_job_batch('worker', batch_size => 1000) as b`).Scan(&someIDs, &someLeases)
			if err != nil || len(someIDs) == 0 {
				e.t.Fatalf("claim jobs, after %d: %v", len(ids), err)
			}
			ids, leases = append(ids, someIDs...), append(leases, someLeases...)
		}
	} else if err := e.conn.QueryRow(e.t.Context(),
		"select array(select id from graphile_worker._private_jobs order by id)").Scan(&ids); err != nil {
		e.t.Fatal(err)
	}
	if c.before != "" {
		e.exec(c.before)
	}
	sql := strings.NewReplacer("$ids", literal(ids), "$leases", literal(leases)).Replace(c.sql)
	for _, plan := range e.explainSlow(2, sql) {
		if rows := plan.Plan.work(); rows > mostRows {
			faults = append(faults, fmt.Sprintf("a node handles %.0f rows for %d elements:\n%s", rows, many, plan.text))
		}
	}
	return faults
}

func literal(numbers []int64) string {
	return "'{" + strings.Trim(strings.ReplaceAll(fmt.Sprint(numbers), " ", ","), "[]") + "}'::bigint[]"
}
