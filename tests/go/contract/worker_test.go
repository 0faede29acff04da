package contract

import (
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/tests/go/nodegw"
)

const crashDifference = "A worker that died in the last attempt"

// work adds jobs for a worker that completes the task done, fails the task fail, and fails parts of batches, and jobs that dead workers
// hold, one of them in its last attempt. The jobs have so many failed attempts that the next one is minutes away.
const work = `
	select id from add_job('done', queue_name => 'q1', job_key => 'done');
	select id from add_job('fail', queue_name => 'q2', job_key => 'fail', flags => array['f'], priority => 3);
	select id from add_job('fail', max_attempts => 1);
	select id from add_job('fail');
	update _private_jobs set attempts = 11, last_error = 'earlier' where id = 4;
	select id from add_job('batch', '[1,2,3]');
	select id from add_job('dead', queue_name => 'q3', run_at => '2020-01-01');
	select id from add_job('dead', max_attempts => 7, run_at => '2020-01-01');
	select id from add_job('dead', queue_name => 'q4', run_at => '2020-01-01');
	update _private_jobs set attempts = 5 where id in (2, 5);
	update _private_jobs set attempts = 6 where id in (6, 7);
	call grow_old();
	call hold('{6,7}', 'dead', '4 hours 1 second');
	call hold('{8}', 'living', '3 hours 50 minutes')`

// worked selects the result. The last column of a job is whether its delay is e^attempts seconds, at most e^10, after a failure less
// than a minute ago.
const worked = `
	select id, task, queue, payload, priority, attempts, max_attempts, last_error, key, flags, locked_by, revision, available, untouched,
	       run_at - exp(least(attempts, 10)) * interval '1 second' between now() - interval '1 minute' and now()
	  from rows order by id;
	select queue_name, locked_by from _private_job_queues order by 1`

func TestWorkersLeaveTheSameRowsBehind(t *testing.T) {
	node, ours := stages(t)
	const nodesRows = `
		2|fail|q2|{}|3|6|25|no|fail|{"f": true}|null|0|t|t|t
		3|fail|null|{}|0|1|1|no|null|null|null|0|f|t|t
		4|fail|null|{}|0|12|25|no|null|null|null|0|t|t|t
		5|batch|null|[1,3]|0|6|25|Batch failures:
		odd 1
		odd 3|null|null|null|0|t|t|t
		6|dead|q3|{}|0|7|25|null|null|null|null|0|t|t|f
		7|dead|null|{}|0|7|7|null|null|null|null|0|f|t|f
		8|dead|q4|{}|0|1|25|null|null|null|living|0|f|t|f
		q1|null
		q2|null
		q3|null
		q4|living`

	node.play(t, []string{work})
	nodegw.Start(t, nodegw.Options{
		DatabaseURL:  node.url,
		PollInterval: 50 * time.Millisecond,
		Preset:       map[string]any{"minResetLockedInterval": 1, "maxResetLockedInterval": 50},
		Tasks: map[string]string{
			"done":  ``,
			"fail":  `throw new Error("no")`,
			"batch": `return payload.map(async (n) => { if (n % 2) throw new Error("odd " + n); })`,
		},
	})
	node.await(t, `
		select count(*) = 7 and count(*) filter (where locked) = 1 and count(*) filter (where last_error <> 'earlier') = 4 from rows`)
	if got, want := node.step(t, worked), trim(nodesRows); got != want {
		t.Errorf("Graphile Worker leaves\n%s\nwant\n%s", got, want)
	}

	ours.play(t, []string{work, `
		select complete_job('worker', g.id, g.lease) from get_job('worker', '{done}') as g`, `
		select fail_job('worker', g.id, 'no', g.lease) from get_job_batch('worker', '{fail}', 3) as g`, `
		select fail_job('worker', g.id, e'Batch failures:\nodd 1\nodd 3', g.lease, replacement_payload => '[1,3]') from get_job('worker', '{batch}') as g`,
		`select reset_stale_locks()`})
	want := strings.Replace(trim(nodesRows), "7|dead|null|{}|0|7|7|null",
		"7|dead|null|{}|0|7|7|Worker dead reported no outcome of the last attempt.", 1)
	if got := ours.step(t, worked); got != want {
		t.Errorf("our functions leave\n%s\nwant\n%s", got, want)
	}
}

func TestJobsThatAWorkerReturnsAreAsIfItHadNotTakenThem(t *testing.T) {
	node, ours := stages(t)
	const jobs = `
		select count(add_job('a', queue_name => 'q' || n, run_at => '2020-01-01')) from generate_series(1, 3) as n;
		call grow_old()`
	const returned = `
		select r.attempts, r.last_error, r.run_at = '2020-01-01', r.available, r.untouched, q.locked_by
		  from rows as r join _private_job_queues as q on q.queue_name = r.queue
		 where not r.locked`
	const want = "0|null|t|t|t|null\n0|null|t|t|t|null"

	// While one job keeps running, Node's time to live of the other claimed jobs expires.
	node.play(t, []string{jobs})
	nodegw.Start(t, nodegw.Options{
		DatabaseURL: node.url,
		Tasks:       map[string]string{"a": `await new Promise(() => {});`},
		Preset:      map[string]any{"localQueue": map[string]any{"size": 10, "ttl": 200}},
	})
	node.await(t, "select count(*) = 1 from rows where locked")
	if got := node.step(t, returned); got != want {
		t.Errorf("Graphile Worker leaves\n%s\nwant\n%s", got, want)
	}

	ours.play(t, []string{jobs, `
		select return_job('worker', g.id, g.lease) from get_job_batch('worker', '{a}', 3) as g where g.id > 1`})
	if got := ours.step(t, returned); got != want {
		t.Errorf("our functions leave\n%s\nwant\n%s", got, want)
	}
}

// await repeats a query until it returns true, for conditions that can only be seen in the database.
func (s *stage) await(t *testing.T, sql string) {
	t.Helper()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for deadline := time.After(time.Minute); firstLine(s.step(t, sql)) != "t"; {
		select {
		case <-again.C:
		case <-deadline:
			t.Fatalf("still not true: %s", sql)
		}
	}
}

func firstLine(answer string) string {
	line, _, _ := strings.Cut(answer, "\n")
	return line
}
