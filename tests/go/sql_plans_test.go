package gotest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// hotPath is a call whose cost must not depend on how many jobs there are.
type hotPath struct {
	name   string
	before string // a call that is not looked at, in the same transaction
	held   int    // whether the call is about 10 claimed jobs: 1 for their ids as $1, 2 for their leases too, as $2
	sql    string
	blocks int // how many blocks it may read, about twice what it does read
	queued int // the same where there are named queues, if that makes a difference
	step   int // how many more for each queue that a claim has to step over
	rows   int // how many rows one sort or join may read
}

const (
	barredInTasks = `task_forbidden_flags => '{"task1": ["barred"], "unknown": ["barred"], "task3": ["other", "barred"]}'`
	frontInTasks  = `task_forbidden_flags => '{"task0": ["front"], "task1": ["front"], "task2": ["front"], "task3": ["front"], "task4": ["front"]}'`
)

var hotPaths = []hotPath{
	{name: "get_job_batch", blocks: 300, queued: 900, rows: 200, step: 12,
		sql: "select * from graphile_worker.get_job_batch('worker', batch_size => 10)"},
	{name: "get_job_batch of one", blocks: 60, queued: 200, rows: 50, step: 12,
		sql: "select * from graphile_worker.get_job_batch('worker')"},
	{name: "get_job_batch for some tasks", blocks: 300, queued: 900, rows: 300, step: 12,
		sql: "select * from graphile_worker.get_job_batch('worker', array['task0', 'task1', 'task2', 'task3', 'unknown'], batch_size => 10)"},
	{name: "get_job_batch with forbidden flags", blocks: 300, queued: 900, rows: 200, step: 12,
		sql: "select * from graphile_worker.get_job_batch('worker', batch_size => 10, forbidden_flags => array['barred'])"},
	{name: "get_job_batch from the claim cursor", blocks: 500, queued: 1000, rows: 200, step: 12,
		before: inAnHour("select * from graphile_worker.get_job_batch('worker', batch_size => 10, forbidden_flags => array['front'])"),
		sql:    "select * from graphile_worker.get_job_batch('worker', batch_size => 10, forbidden_flags => array['front'])"},
	{name: "get_job_batch with forbidden flags of tasks", blocks: 300, queued: 900, rows: 300, step: 12,
		sql: "select * from graphile_worker.get_job_batch('worker', batch_size => 10, " + barredInTasks + ")"},
	{name: "get_job_batch with forbidden flags of tasks, from the claim cursor", blocks: 500, queued: 1000, rows: 200,
		step: 12,
		before: inAnHour("select * from graphile_worker.get_job_batch('worker', batch_size => 10, " + frontInTasks +
			")"),
		sql: "select * from graphile_worker.get_job_batch('worker', batch_size => 10, " + frontInTasks + ")"},
	{name: "complete_job_batch", held: 1, blocks: 120, queued: 400, rows: 200,
		sql: "select * from graphile_worker.complete_job_batch('worker', $1)"},
	{name: "complete_job_batch with leases", held: 2, blocks: 120, queued: 400, rows: 200,
		sql: "select * from graphile_worker.complete_job_batch('worker', $1, $2)"},
	{name: "_gw_complete_claim", held: 2, blocks: 120, queued: 500, rows: 200,
		sql: "select graphile_worker._gw_complete_claim('worker', $1, ($2::bigint[])[1])"},
	{name: "return_job_batch", held: 2, blocks: 300, queued: 600, rows: 200,
		sql: "select * from graphile_worker.return_job_batch('worker', $1, $2)"},
	{name: "fail_job_batch", held: 2, blocks: 300, queued: 600, rows: 200,
		sql: `select * from graphile_worker.fail_job_batch('worker', (
		        select json_agg(json_build_object('id', h.id, 'lease', h.lease)) from unnest($1::bigint[], $2::bigint[]) as h (id, lease)))`},
	{name: "renew_leases", held: 2, blocks: 300, queued: 400, rows: 200,
		sql: "select * from graphile_worker.renew_leases('worker', $1, $2, older_than => '0')"},
	{name: "next_run_at", blocks: 300, rows: 200,
		sql: "select graphile_worker.next_run_at(array['task1', 'task2'])"},
	{name: "get_job", blocks: 60, queued: 200, rows: 50, step: 12,
		before: "select graphile_worker.stale_sweep()",
		sql:    "select * from graphile_worker.get_job('worker')"},
	{name: "get_job_alone", blocks: 60, rows: 50, sql: "select * from graphile_worker.get_job_alone('worker')"},
	{name: "complete_job", held: 1, blocks: 60, rows: 50,
		sql: "select graphile_worker.complete_job('worker', ($1::bigint[])[1])"},
	{name: "fail_job", held: 1, blocks: 120, rows: 50,
		sql: "select * from graphile_worker.fail_job('worker', ($1::bigint[])[1], 'failed')"},
	{name: "return_job", held: 1, blocks: 120, rows: 50,
		sql: "select * from graphile_worker.return_job('worker', ($1::bigint[])[1])"},
	{name: "fall_asleep", blocks: 350, rows: 200,
		sql: "select * from graphile_worker.fall_asleep('worker', array['task1', 'task2'])"},
	{name: "make_room", blocks: 60, rows: 50, sql: "select graphile_worker.make_room(array['task1', 'task2'])"},
	{name: "heartbeat", held: 2, blocks: 400, rows: 200,
		sql: "select * from graphile_worker.heartbeat('worker', $1, $2)"},
	{name: "add_job", blocks: 40, rows: 200,
		sql: "select graphile_worker.add_job('task1')"},
	{name: "add_job in a queue", blocks: 80, rows: 200,
		sql: "select graphile_worker.add_job('task1', queue_name => 'queue1')"},
	{name: "add_job with a new key", blocks: 60, rows: 200,
		sql: "select graphile_worker.add_job('task1', job_key => 'new')"},
	{name: "add_job with the key of a waiting job", blocks: 120, rows: 200,
		sql: "select graphile_worker.add_job('task1', job_key => 'key2', queue_name => 'queue1')"},
	{name: "add_jobs", blocks: 3000, rows: 1000,
		sql: `select * from graphile_worker.add_jobs(array(
		        select row('task' || n % 5, null, case when n % 2 = 0 then 'queue' || n end, null, null, null, null, null)::graphile_worker.job_spec
		          from generate_series(1, 100) as n))`},
	{name: "add_jobs with keys", blocks: 5000, rows: 1000,
		sql: `select * from graphile_worker.add_jobs(array(
		        select row('task' || n % 5, null, case when n % 2 = 0 then 'queue' || n end, null, null, 'key' || n, null, null)::graphile_worker.job_spec
		          from generate_series(1, 100) as n))`},
}

// backlog is a kind of jobs that wait: of five tasks and many priorities, some not due, some under a key, some flagged,
// a quarter of them in front with a flag. queued is the condition on n for a job of the 500 named queues, which
// stand at that priority.
type backlog struct {
	name, queued string
	priority     int
	busy         string // the condition on n for a job of one more queue, which is busy and stands in front of all
	steps        int    // how many queues a claim has to step over
	analysed     bool   // the tables have been analysed while they were empty
}

var backlogs = []backlog{
	{name: "no queues", queued: "false"},
	{name: "queues in front", queued: "n % 4 = 0", priority: -5},
	{name: "queues in between", queued: "n % 4 = 0", priority: -1},
	{name: "queues behind", queued: "n % 4 = 0", priority: 20},
	{name: "queues behind a busy one", queued: "n % 4 = 0", priority: -5, busy: "n % 4 = 3", steps: 500},
	{name: "nothing but queues", queued: "true", steps: 500, analysed: true},
	{name: "nothing but a busy queue", queued: "false", busy: "true", steps: 20, analysed: true},
}

// add adds the jobs from number first to last in one call.
func (b backlog) add(s *session, first, last int) {
	s.t.Helper()
	s.exec(fmt.Sprintf(`
		select count(*) from graphile_worker.add_jobs(array(
		  select row('task' || n / 7 %% 5, '{"a": 1}', case when %[2]s then 'busy' when %[1]s then 'queue' || n / 4 %% 500 end,
		             case when n %% 20 = 1 then now() + interval '1 hour' end, null,
		             case when n %% 20 = 2 then 'key' || n end,
		             case when %[2]s then -9 when %[1]s then %[3]d when n %% 4 = 2 then -1 else n %% 10 end,
		             case when n %% 4 = 2 then array['front'] when n %% 10 = 3 then array['barred'] end)::graphile_worker.job_spec
		    from generate_series(%[4]d, %[5]d) as n))`, b.queued, cmp.Or(b.busy, "false"), b.priority, first, last))
	if b.busy != "" {
		s.exec("update graphile_worker._private_job_queues set locked_at = now(), locked_by = 'other' where queue_name = 'busy'")
	}
}

// most is how many blocks the call may read.
func (p hotPath) most(b backlog) int {
	if (b.queued != "false" || b.busy != "") && p.queued != 0 {
		return p.queued + b.steps*p.step
	}
	return p.blocks
}

// call makes the call, and undoes it. It returns the plans of its statements, if they are asked for, that of the call last.
func (p hotPath) call(e *explainer, explained bool) (plans []plan) {
	e.t.Helper()
	e.exec("begin")
	defer e.exec("rollback")
	if p.before != "" {
		e.exec(p.before)
	}
	var args []any
	if p.held > 0 {
		args = e.held()[:p.held]
	}
	if !explained {
		e.exec(p.sql, args...)
		return nil
	}
	return e.explain(p.sql, args...)
}

// look makes the call, and returns how many blocks it read, and what is wrong with its plans.
func (p hotPath) look(e *explainer, b backlog) (blocks int, faults []string) {
	e.t.Helper()
	plans := p.call(e, true)
	for _, plan := range plans {
		for _, fault := range plan.faults(float64(p.rows + b.steps)) {
			faults = append(faults, fmt.Sprintf("%s: %s\n%s", p.name, fault, plan.text))
		}
		if strings.Contains(plan.text, "graphile_worker._gw_suits(") { // not as in the text of the query, where the schema is quoted
			faults = append(faults, fmt.Sprintf("%s: _gw_suits is called for each job\n%s", p.name, plan.text))
		}
	}
	call := plans[len(plans)-1]
	return call.Plan.Hit + call.Plan.Read, faults
}

// held claims ten jobs and returns their ids and leases; other ids where there is nothing to claim.
func (e *explainer) held() []any {
	e.t.Helper()
	var ids, leases []int64
	err := e.conn.QueryRow(e.t.Context(), `
		select coalesce(array_agg(b.id order by b.id), '{1,2,3}'), coalesce(array_agg(b.lease order by b.id), '{4,5,6}')
		  from graphile_worker.get_job_batch('worker', batch_size => 10) as b`).Scan(&ids, &leases)
	if err != nil {
		e.t.Fatalf("claim jobs: %v", err)
	}
	return []any{ids, leases}
}

// inspect brings one backlog upon a session that has cached its plans while everything was empty, and returns what is
// wrong with the hot paths.
func (b backlog) inspect(d *database, paths []hotPath) (faults []string) {
	e := d.explainer()
	// Never analysed, until the test says so.
	for _, table := range []string{"_private_jobs", "_private_job_queues", "_private_tasks"} {
		e.exec("alter table graphile_worker." + table + " set (autovacuum_enabled = off)")
	}
	if b.analysed {
		e.exec("analyze")
	}
	for _, p := range paths {
		_, first := p.look(e, b)
		for range 6 { // The server plans for the arguments five times, and may keep a plan for any then.
			p.call(e, false)
		}
		_, kept := p.look(e, b)
		faults = append(faults, prefixed("empty", slices.Concat(first, kept))...)
	}
	small := make([]int, len(paths))
	for _, state := range []struct {
		name   string
		change func()
	}{
		{"after 2000 jobs", func() { b.add(&e.session, 1, 2000) }},
		{"after 20000 jobs", func() { b.add(&e.session, 2001, 20000) }},
		{"analysed", func() { e.exec("analyze") }},
	} {
		state.change()
		for i, p := range paths {
			blocks, found := p.look(e, b)
			if small[i] == 0 {
				again, _ := p.look(e, b)
				small[i] = min(blocks, again)
			}
			most := min(p.most(b), small[i]*3/2+50)
			// What a busy server adds passes: a sweep that is due, or plans made anew while other databases change their
			// tables, which invalidates the caches of all sessions.
			for again := 0; blocks > most && again < 20; again++ {
				fewer, _ := p.look(e, b)
				blocks = min(blocks, fewer)
			}
			if blocks > most {
				found = append(found, fmt.Sprintf("%s: %d blocks, want %d at most; %d after the first 2000 jobs",
					p.name, blocks, most, small[i]))
			}
			e.t.Logf("%s: %s: %d blocks", state.name, p.name, blocks)
			faults = append(faults, prefixed(state.name, found)...)
		}
	}
	return faults
}

func prefixed(prefix string, texts []string) []string {
	result := slices.Clone(texts)
	for i := range result {
		result[i] = prefix + ": " + result[i]
	}
	return result
}

// A plan that a session cached while there were no jobs serves the burst that follows, and analysing makes none worse: no
// hot path reads a table from end to end, sorts or joins more than a batch or so, or reads more when there are more jobs.
func TestHotPathsStayOnTheirIndexes(t *testing.T) {
	for _, b := range backlogs {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			if faults := b.inspect(newDatabase(t), hotPaths); len(faults) > 0 {
				t.Error(strings.Join(faults, "\n"))
			}
		})
	}
}

func TestAHotPathThatLeavesItsIndexesIsSeen(t *testing.T) {
	for _, c := range pgtest.Mutants([]struct {
		name, path, backlog string
		spoil               func(*session)
		fault               string
	}{
		{
			"an index in no order", "get_job_batch", "no queues", func(s *session) {
				s.exec("drop index graphile_worker.jobs_no_queue_index")
				s.exec(`create index jobs_no_queue_index on graphile_worker._private_jobs (created_at)
				         where is_available = true and job_queue_id is null`)
			}, "Sort reads",
		},
		{
			"keys that no index can find", "add_jobs with keys", "no queues", func(s *session) {
				s.mutate("_gw_draw_job_ids", "j.key = any (job_keys)", "coalesce(j.key = any (job_keys), false)")
			}, "add_jobs with keys",
		},
		{
			"what cannot be inlined", "get_job_batch", "no queues", func(s *session) {
				s.exec("alter function graphile_worker._gw_suits set search_path = pg_catalog")
			}, "_gw_suits is called for each job",
		},
		{
			"sequential scans", "add_job in a queue", "queues in front", func(s *session) {
				s.exec("alter function graphile_worker.add_job reset enable_seqscan")
			}, "Seq Scan on",
		},
	}) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDatabase(t)
			c.spoil(d.watcher)
			path := hotPaths[slices.IndexFunc(hotPaths, func(p hotPath) bool { return p.name == c.path })]
			b := backlogs[slices.IndexFunc(backlogs, func(b backlog) bool { return b.name == c.backlog })]
			faults := b.inspect(d, []hotPath{path})
			if !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, c.fault) }) {
				t.Errorf("no fault says %q: %q", c.fault, faults)
			}
		})
	}
}

// inAnHour makes a claim, and keeps the claim cursor in force, if there is one then, for an hour.
func inAnHour(claim string) string {
	return `
		select set_config('gw.claim_cursor', (
		         select array[c.at[1], c.at[2] + 3600000000, c.at[3], c.at[4], c.at[5], c.at[6], c.at[7], c.at[8]]::text
		           from (select substring(current_setting('gw.claim_cursor', true) from '^\{.*')::bigint[] as at) as c
		          where c.at is not null), false)
		  from (select count(*) from (` + claim + `) as claimed) as claim`
}
