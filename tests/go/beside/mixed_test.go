package beside

import (
	"slices"
	"testing"

	"github.com/gwsql/gw/pkg/shim"
	"github.com/gwsql/gw/tests/go/nodegw"
)

func TestEachSideRunsWhatTheOtherEnqueuedAndOnlyTheTasksItKnows(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	q.node(nodegw.Options{Concurrency: 2}, "on_node")
	q.ours(shim.Config{Concurrency: 2}, "on_gw")

	spec := func(identifier string, n int) map[string]any {
		return map[string]any{"identifier": identifier, "payload": map[string]any{"n": n}}
	}
	nodegw.Utils(t, nodegw.V18, q.url, "",
		nodegw.Call{"addJob", "on_gw", map[string]any{"n": 1}},
		nodegw.Call{"addJobs", []any{spec("on_gw", 2), spec("on_node", 3), spec("nobody", 4)}})
	q.add("on_node", `'{"n":5}'`)
	q.exec(`select graphile_worker.add_jobs(array[
		json_populate_record(null::graphile_worker.job_spec, '{"identifier":"on_node","payload":{"n":6}}'),
		json_populate_record(null::graphile_worker.job_spec, '{"identifier":"on_gw","payload":{"n":7}}'),
		json_populate_record(null::graphile_worker.job_spec, '{"identifier":"nobody","payload":{"n":8}}')])`)
	q.await("select count(*) = 6 from ran")

	got := values[string](q, "select concat_ws(' ', payload ->> 'n', task, side) from ran order by (payload ->> 'n')::integer")
	want := []string{"1 on_gw gw", "2 on_gw gw", "3 on_node node", "5 on_node node", "6 on_node node", "7 on_gw gw"}
	if !slices.Equal(got, want) {
		t.Errorf("jobs that ran: %q, want %q", got, want)
	}
	q.await(`select count(*) = 2 from graphile_worker.jobs`)
	equal(t, "untouched jobs of the task that nobody knows", value[int](q,
		`select count(*) from graphile_worker.jobs where task_identifier = 'nobody' and attempts = 0 and locked_at is null`), 2)
}

func TestTwoThousandJobsAreSharedByBothSides(t *testing.T) {
	for _, version := range []nodegw.Version{nodegw.V17, nodegw.V18} {
		t.Run(string(version), func(t *testing.T) {
			t.Parallel()
			q := newQueue(t)
			// Long enough that jobs take the time, and not their claims: the share of a side is then that of its slots.
			q.job("perform pg_sleep(0.03);")
			const tenth = `select (graphile_worker.add_job('shared')).id is not null from generate_series(1, 200)`
			q.node(nodegw.Options{Version: version, Concurrency: 4}, "shared")
			q.ours(shim.Config{Concurrency: 4}, "shared")
			specs := make([]map[string]any, 1000)
			for i := range specs {
				specs[i] = map[string]any{"identifier": "shared", "payload": map[string]any{"n": i}}
			}
			nodegw.Utils(t, version, q.url, "", nodegw.Call{"addJobs", specs})
			for range 5 {
				q.exec(tenth)
			}
			q.awaitEmpty()
			equal(t, "runs", value[int](q, "select count(*) from ran"), 2000)
			equal(t, "jobs that ran", value[int](q, "select count(distinct id) from ran"), 2000)
			for _, side := range []string{"node", "gw"} {
				if n := value[int](q, "select count(*) from ran where side = $1", side); n < 500 {
					t.Errorf("%s ran %d of 2000 jobs, want at least 500", side, n)
				} else {
					t.Logf("%s ran %d of 2000 jobs", side, n)
				}
			}
		})
	}
}

// The jobs have different run_at: Node runs jobs with the same one in the order of their row versions, so that one that was
// returned comes last.
func TestSerialQueuesNeverOverlapAcrossBothSides(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	q.job("perform pg_sleep(0.005);")
	q.node(nodegw.Options{Concurrency: 4}, "serial")
	q.ours(shim.Config{Concurrency: 4}, "serial")
	q.exec(`
		select graphile_worker.add_jobs(array_agg(row('serial', json_build_object('queue', n % 50), 'queue ' || n % 50,
		                                              now() - (400 - n) * interval '1 ms', null, null, null, null
		                                             )::graphile_worker.job_spec order by n))
		  from generate_series(0, 399) as n`)
	q.awaitEmpty()
	equal(t, "runs", value[int](q, "select count(*) from ran"), 400)
	equal(t, "jobs that began before the one ahead in their queue had ended", value[int](q, `
		select count(*)
		  from (select began < lag(ended) over (partition by payload ->> 'queue' order by id) as early from ran) as r
		 where early`), 0)
	for _, side := range []string{"node", "gw"} {
		n := value[int](q, "select count(*) from ran where side = $1", side)
		t.Logf("%s ran %d of 400 serial jobs", side, n)
		if n == 0 {
			t.Errorf("%s ran none of the serial jobs", side)
		}
	}
}
