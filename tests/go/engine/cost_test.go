package engine

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

// pages returns how many pages a statement reads, cached or not, once the catalogue caches of its session are filled:
// the least of four runs, which are rolled back.
func (p *play) pages(sql string) int {
	p.t.Helper()
	least := math.MaxInt
	for range 4 {
		tx, err := p.conn.Begin(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		var text []byte
		if err := tx.QueryRow(p.t.Context(), schema("explain (analyze, buffers, format json) "+sql)).Scan(&text); err != nil {
			p.t.Fatalf("%s: %v", sql, err)
		}
		if err := tx.Rollback(p.t.Context()); err != nil {
			p.t.Fatal(err)
		}
		var explained []struct {
			Plan struct {
				Hit  int `json:"Shared Hit Blocks"`
				Read int `json:"Shared Read Blocks"`
			}
		}
		if err := json.Unmarshal(text, &explained); err != nil {
			p.t.Fatal(err)
		}
		least = min(least, explained[0].Plan.Hit+explained[0].Plan.Read)
	}
	return least
}

// A snapshot that somebody holds keeps what claims have left behind: entries of indexes, and versions of gates and
// lanes. A claim under limits reads more pages then; how many is told in the documentation as a time, and must not grow
// unseen.
func TestClaimsBesideAHeldSnapshotReadABoundedNumberOfPages(t *testing.T) {
	for name, c := range map[string]struct {
		limit        string
		most, others int // pages that 10 jobs take, after 2000 have ended
	}{
		"a limit": {"max_running => 50", 1500, 600},
		"keys":    {"by => 'payload:c', max_running => 5", 12000, 600},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t, "select gw.set_limit('l', tasks => '{a}', "+c.limit+")",
				`select count(*) from gw.add_jobs(array(
				select row('a', json_build_object('c', n % 50), null, now() - interval '1 hour', null, null, null, null)::gw.job_spec
				  from generate_series(1, 3000) as n))`,
				"select gw.add_job('b', to_json(n)) from generate_series(1, 50) as n",
				"vacuum analyze gw._private_jobs")
			p.complete(p.claim("w", 10, "a")...)
			const ofLimit, ofOthers = "select id from gw.get_job_batch('w', '{a}', 10)",
				"select id from gw.get_job_batch('w', '{b}', 10)"
			before, beforeOthers := p.pages(ofLimit), p.pages(ofOthers)
			p.begin(pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, "select count(*) from gw._private_jobs")
			for range 50 {
				p.end("select gw.complete_job_batch($1, array(select id from gw._private_jobs where locked_by = $1)) where $2::bigint + $3::bigint > 0", p.claim("w", 40, "a")[0])
			}
			after, afterOthers := p.pages(ofLimit), p.pages(ofOthers)
			t.Logf("a claim reads %d pages, then %d; of others %d, then %d", before, after, beforeOthers, afterOthers)
			if after > c.most || afterOthers > c.others {
				t.Errorf("want at most %d and %d", c.most, c.others)
			}
		})
	}
}

// Statistics say that many jobs are in queues, in no order. They are behind the others in the index of all jobs, where
// claims must not look for them.
func TestStatisticsDoNotSendClaimsThroughAllJobs(t *testing.T) {
	for name, more := range map[string][]string{
		"jobs in queues": {`insert into gw._private_job_queues (queue_name) select 'q' || n from generate_series(1, 10000) as n`,
			`insert into gw._private_jobs (task_id, payload, job_queue_id, priority)
			 select t.id, '1', q.id, 1 from gw._private_tasks as t, gw._private_job_queues as q where t.identifier = 'a' order by random()`},
		"jobs of a limit": {"select gw.set_limit('l', tasks => '{b}', max_running => 1)",
			"select gw.add_job('b', priority => 1)",
			`insert into gw._private_jobs (task_id, payload, job_queue_id, priority, run_at)
			 select t.id, '1', -1, 1, now() - interval '1 hour' * random() from gw._private_tasks as t, generate_series(1, 10000) where t.identifier = 'b'`},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t, "select gw.add_job('a')", `insert into gw._private_jobs (task_id, payload, run_at)
				select t.id, '1', now() - interval '1 hour' + n * interval '1 ms'
				  from gw._private_tasks as t, generate_series(1, 20000) as n`)
			p.do(more...)
			p.do("alter table gw._private_jobs set (autovacuum_enabled = false)", "analyze gw._private_jobs")
			for _, call := range []string{"select id from gw.get_job_batch('w', '{a,b}')",
				"select gw.next_run_at('{a,b}')"} {
				if pages := p.pages(call); pages > 300 {
					t.Errorf("%s reads %d pages, want at most 300", call, pages)
				}
			}
		})
	}
}

// A transaction that somebody has prepared after a claim holds its limits, maybe for days: everything else goes on, and
// doctor names it.
func TestAPreparedTransactionHoldsOnlyItsLimits(t *testing.T) {
	server := pgtest.Server(t, map[string]string{"max_prepared_transactions": "2"})
	p := playOn(t, pgtest.DatabaseOn(t, server.URL("postgres")), "select gw.set_setting('notify', 'never')",
		"select gw.set_limit('held', tasks => '{a}', max_running => 5)",
		"select gw.set_limit('other', tasks => '{b}', max_running => 5)",
		"select gw.add_job(t, to_json(t)) from unnest('{a,a,b,c}'::text[]) as t",
		"select gw.add_job('c', '\"queued\"', 'q')",
		"select gw.add_job('a', '\"of the limit\"', 'r')")
	tx := p.begin(pgx.TxOptions{}, "select gw.get_job_batch('lost', '{a}')", "prepare transaction 'claimed'")
	if err := tx.Conn().Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.wants("beside it", p.drainBriefly("w"), `"b"`, `"c"`, `"queued"`)
	p.do("select gw.set_limit('other', tasks => '{b}', max_running => 1)", "select gw.pause('b')",
		"select gw.resume('b')", "select gw.add_job('b', '1')",
		"select gw.add_job('a', '2')")
	p.beats(2)
	p.wants("after changes and heartbeats", p.drainBriefly("w"), "1")
	if found := pgtest.Value[string](t, p.pool,
		schema("select detail from gw._gw_find_limit_holders('-1 minute') where subject = 'limit held'")); !strings.Contains(found, "prepared transaction claimed") {
		t.Errorf("doctor says %q", found)
	}
	p.do("rollback prepared 'claimed'")
	p.count("after it", p.drain("w"), 4)
}

// A limit for all tasks lets any of a thousand tasks start, and a claim's cost follows the tasks that wait.
func TestAThousandTasksUnderALimitForAll(t *testing.T) {
	p := newPlay(t, "select gw.set_limit('all', max_running => 7)",
		"select gw.set_limit('keys', by => 'payload:c', max_running => 1)",
		`select count(*) from gw.add_jobs(array(
		   select row('task' || n % 1000, json_build_object('c', n), null, now() - interval '1 hour' + n * interval '1 s', null, null, null, null)::gw.job_spec
		     from generate_series(0, 1999) as n))`, "vacuum analyze gw._private_jobs")
	first := p.claim("w", 20)
	p.count("the first", first, 7)
	for n, j := range first {
		if want := pgtest.Value[string](t, p.pool, "select 'task' || $1::int", n); j.task != want {
			t.Errorf("job %d is of %s, want %s", n, j.task, want)
		}
	}
	p.count("beside them", p.claim("v", 20), 0)
	p.count("beside them, of one task", p.claim("v", 20, "task500"), 0)
	p.complete(first...)
	// Before, a claim evaluated a function for each task and gate: some million calls.
	for sql, most := range map[string]int{"select id from gw.get_job_batch('v', null, 10)": 400000,
		"select id from gw.get_job_batch('v', '{task500}', 10)": 1500} {
		if read := p.pages(sql); read > most {
			t.Errorf("%s reads %d pages, want at most %d", sql, read, most)
		}
	}
	p.wants("of one task", p.claim("v", 1, "task500"), `{"c" : 500}`)
	p.count("beside it", p.claim("w", 20), 6)
}

// idleLanes adds lanes of task a, and their gates, that have been idle for two minutes.
func (p *play) idleLanes(count int) {
	p.t.Helper()
	p.do(`select gw.add_job('a', '{"c":"pattern"}')`)
	p.drain("w", "a")
	p.do(fmt.Sprintf(`
		insert into gw._gw_gates overriding system value
		select c.* from gw._gw_gates as g, generate_series(1, %[1]d) as n,
		  lateral jsonb_populate_record(g, jsonb_build_object('id', 1000000 + n, 'key', 'idle ' || n, 'served_at', now() - interval '2 minutes')) as c
		 where g.key = 'pattern'`, count), fmt.Sprintf(`
		insert into gw._gw_lanes
		select c.* from gw._gw_lanes as l join gw._gw_gates as g on g.id = any (l.gates), generate_series(1, %[1]d) as n,
		  lateral jsonb_populate_record(l, jsonb_build_object('id', -1000000 - n, 'gates', array[1000000 + n], 'served_at', now() - interval '2 minutes')) as c
		 where g.key = 'pattern'`, count))
	p.do("vacuum analyze gw._gw_gates", "vacuum analyze gw._gw_lanes")
}

// Lanes that nobody uses cost claims nothing and heartbeats little, and sweeps drop them.
func TestManyIdleLanesCostNothingAndGo(t *testing.T) {
	p := newPlay(t, "select gw.set_limit('l', tasks => '{a}', by => 'payload:c', max_running => 1)",
		"select gw.register_worker('keeper')")
	p.idleLanes(50000)
	p.do("select gw.add_job('b', to_json(n)) from generate_series(1, 30) as n",
		`select gw.add_job('a', json_build_object('c', 'new ' || n)) from generate_series(1, 30) as n`)
	for sql, most := range map[string]int{
		"select id from gw.get_job_batch('w', '{a}', 10)": 3000, "select id from gw.get_job_batch('w', '{b}', 10)": 400,
		"select id from gw.get_job_batch('w', null, 10)": 3000, "select gw.next_run_at('{a}')": 100,
	} {
		if read := p.pages(sql); read > most {
			t.Errorf("%s reads %d pages, want at most %d", sql, read, most)
		}
	}
	const lanes, gates = "select count(*) from gw._gw_lanes where gate = 0", "select count(*) from gw._gw_gates"
	p.beats(3)
	for _, sql := range []string{lanes, gates} {
		if left := pgtest.Value[int](t, p.pool, schema(sql)); left > 47500 {
			t.Errorf("three heartbeats leave %d: %s", left, sql)
		}
	}
}

// Sweeps drop the gates and lanes that nobody uses any more, and none that means something.
func TestSweepsDropUnusedGatesAndLanesOnly(t *testing.T) {
	p := newPlay(t, "select gw.set_limit('l', tasks => '{a}', by => 'payload:c', max_running => 1)",
		"select gw.set_limit('rated', tasks => '{b}', by => 'payload:c', rate => 1, per => '1 hour')",
		"select gw.set_limit('fair', tasks => '{d}', by => 'payload:c', max_running => 1, fair => true)",
		`select gw.add_job(t, json_build_object('c', c))
		   from unnest('{a,a,a,a,a,a,b,d,d}'::text[], '{idle,new,set,closed,runs,waits,rate,idle,new}'::text[]) as u (t, c)`,
		`select gw.add_job('a', '{"c":"queued"}', 'q')`)
	all := p.all("w")
	p.count("all", all, 10)
	var running []job
	for _, j := range all {
		switch j.payload {
		case `{"c" : "closed"}`:
			p.end("select gw.rate_limited($1, $2, $3, interval '1 hour')", j)
			p.do("delete from gw._private_jobs where payload ->> 'c' = 'closed'")
		case `{"c" : "runs"}`, `{"c" : "waits"}`, `{"c":"queued"}`:
			running = append(running, j)
		default:
			p.complete(j)
		}
	}
	p.do("select gw.override_lane('l', 'set', max_running => 5)", `select gw.add_job('a', '{"c":"waits"}')`)
	p.count("what waits", p.all("w"), 0)
	p.beats(1) // counts the ends
	p.do("update gw._gw_lanes as l set served_at = clock_timestamp() - interval '2 minutes' from gw._gw_gates as g where g.id = any (l.gates) and g.key <> 'new'",
		"update gw._gw_gates set served_at = clock_timestamp() - interval '2 minutes' where key <> 'new'")
	p.beats(3)
	has := func(what, sql, want string) {
		t.Helper()
		if got := pgtest.Value[string](t, p.pool, schema(sql)); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	has("gates", "select string_agg(l.name || ' ' || g.key, ', ' order by l.name, g.key) from gw._gw_gates as g join gw._gw_limits as l on l.id = g.limit_id where g.key is not null",
		"fair new, l closed, l queued, l runs, l set, l waits, rated rate")
	has("lanes", "select string_agg(distinct g.key, ', ' order by g.key) from gw._gw_lanes as l join gw._gw_gates as g on g.id = any (l.gates)", "new, queued, runs, waits")
	p.complete(running...)
	p.count("the one that waits", p.drain("w"), 1)
}

// Who has passed over a limit that another claim holds looks again within some milliseconds, and who has seen that
// nothing may start does not.
func TestAClaimThatMissesALimitLooksAgainSoon(t *testing.T) {
	p := newPlay(t, "select gw.set_limit('l', tasks => '{a}', max_running => 1)",
		"select gw.add_job('a', to_json(n)) from generate_series(1, 3) as n")
	in := func() (wait *float64) {
		t.Helper()
		if err := p.conn.QueryRow(t.Context(),
			schema("select extract(epoch from gw.next_run_at('{a}') - clock_timestamp())::float8")).Scan(&wait); err != nil {
			t.Fatal(err)
		}
		return wait
	}
	tx := p.begin(pgx.TxOptions{}, "select gw.get_job_batch('open', '{a}')")
	for range 20 {
		p.count("while it is held", p.one("w", 1, "a"), 0)
		if wait := in(); wait == nil || *wait > 0.02 {
			t.Fatalf("it looks again in %v", wait)
		}
	}
	p.commit(tx)
	p.count("behind the one that runs", p.one("w", 1, "a"), 0)
	if wait := in(); wait != nil {
		t.Errorf("without room it looks again in %v s", *wait)
	}
	p.do("select gw.complete_job('open', id) from gw.jobs where locked_by = 'open'")
	p.count("after its end", p.one("w", 1, "a"), 1)
}
