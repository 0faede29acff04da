package engine

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

// A job of one task ends at a gate that jobs of another task wait for, and only workers of that other task are left.
func TestAnEndIsSeenByWorkersOfAnotherTask(t *testing.T) {
	for _, parked := range []bool{false, true} {
		t.Run(fmt.Sprintf("in a lane %t", parked), func(t *testing.T) {
			p := newPlay(t, "select gw.set_limit('l', tasks => '{a,b}', by => 'payload:c', max_running => 1)",
				`select gw.add_job('a', '{"c":"x"}')`)
			now := p.claim("wa", 1, "a")
			p.count("the first", now, 1)
			p.do(`select gw.add_job('b', '{"c":"x"}')`)
			if parked {
				p.count("beside it", p.claim("wb", 5, "b"), 0)
			}
			p.complete(now...)
			p.count("after its end", p.claim("wb", 5, "b"), 1)
		})
	}
}

// Two lanes wait for a gate that they share, and the job of the first has gone when the gate opens: the second starts,
// and before a job that was added later.
func TestAnEmptyLaneDoesNotUseUpTheRoomOfTheNext(t *testing.T) {
	for name, goes := range map[string]string{
		"removed":   "select gw.remove_job('first')",
		"deleted":   "delete from gw._private_jobs where key = 'first'",
		"postponed": "select gw.reschedule_jobs(array(select id from gw._private_jobs where key = 'first'), now() + interval '1 hour')",
		"replaced":  `select gw.add_job('a', '{"c":"x","n":1}', job_key => 'first', run_at => now() + interval '1 hour')`,
		"failed":    "select gw.permanently_fail_jobs(array(select id from gw._private_jobs where key = 'first'), 'x')",
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t, "select gw.set_limit('l', tasks => '{a}', by => 'payload:c', max_running => 5, total_running => 1)",
				`select gw.add_job('a', '{"c":"w"}')`)
			now := p.claim("w", 1)
			p.do(`select gw.add_job('a', '{"c":"x"}', job_key => 'first')`, `select gw.add_job('a', '{"c":"y"}')`)
			p.count("beside the total", p.claim("w", 5), 0)
			p.do(goes)
			p.do(`select gw.add_job('a', '{"c":"z"}')`)
			p.complete(now...)
			now = p.claim("w", 5)
			p.wants("the second lane", now, `{"c":"y"}`)
			p.complete(now...)
			p.wants("the new job", p.claim("w", 5), `{"c":"z"}`)
		})
	}
}

// Many jobs that may not start are in front of one that may.
func TestAFreeJobBehindManyThatMayNotStartIsFoundWithoutAPoll(t *testing.T) {
	for name, acts := range map[string][]string{
		"a full key": {
			"select gw.set_limit('l', tasks => '{a}', by => 'payload:c', max_running => 1)",
			many("a", 20000, `{"c":"x"}`),
		},
		"plain jobs of a task that is limited now": {
			many("a", 3000, `{"c":"x"}`),
			"select gw.set_limit('l', tasks => '{a}', by => 'payload:c', max_running => 1)",
		},
		"plain jobs of a task that is limited now, without keys": {
			many("a", 3000, `{"c":"x"}`),
			"select gw.set_limit('l', tasks => '{a}', max_running => 1)",
		},
		"keys and a total": {
			"select gw.set_limit('l', tasks => '{a}', by => 'payload:c', max_running => 1, total_running => 2)",
			many("a", 2000, `{"c":"x"}`),
		},
		"fair keys": {
			"select gw.set_limit('l', tasks => '{a}', by => 'payload:c', max_running => 1, fair => true)",
			many("a", 3000, `{"c":"x"}`),
		},
		"a paused task": {
			many("a", 3000, `{"c":"x"}`), "select gw.pause('a')",
		},
		"a closed limit": {
			"select gw.set_limit('l', tasks => '{a}', max_running => 1)", many("a", 3000, `{}`),
			"select gw.pause(limit_name => 'l')",
		},
		"a used rate": {
			"select gw.set_limit('l', tasks => '{a}', rate => 1, per => '1 day')", many("a", 3000, `{}`),
		},
		"queues of a full limit": {
			"select gw.set_limit('l', tasks => '{a}', max_running => 1)",
			"select gw.add_job('a', '{}', 'q' || n, run_at => now() - interval '1 hour') from generate_series(1, 2000) as n",
		},
	} {
		for _, free := range []string{`gw.add_job('b', '"free"')`, `gw.add_job('b', '"free"', 'q')`,
			`gw.add_job('a', '{"c":"free"}')`} {
			keyless := name != "a full key" && name != "keys and a total" && name != "fair keys" &&
				name != "plain jobs of a task that is limited now"
			if free == `gw.add_job('a', '{"c":"free"}')` && keyless {
				continue
			}
			t.Run(name+", "+free, func(t *testing.T) {
				p := newPlay(t, acts...)
				p.do("analyze gw._private_jobs", "select "+free)
				var got []job
				begin := time.Now()
				for range 5 {
					more := p.claim("w", 1)
					got = append(got, more...)
					if len(more) == 0 || len(ofPayload(got, "free")) > 0 {
						break
					}
				}
				if len(ofPayload(got, "free")) != 1 {
					t.Errorf("the claims take %q", payloadsOf(got))
				}
				t.Logf("%d jobs in %v", len(got), time.Since(begin))
			})
		}
	}
}

func many(task string, count int, payload string) string {
	return fmt.Sprintf(`select count(*) from gw.add_jobs(array(
		select row('%s', '%s', null, now() - interval '1 hour', null, null, null, null)::gw.job_spec from generate_series(1, %d) as n))`, task, payload, count)
}

func ofPayload(jobs []job, payload string) []job {
	return slices.DeleteFunc(slices.Clone(jobs), func(j job) bool {
		return j.payload != `"`+payload+`"` &&
			j.payload != `{"c":"`+payload+`"}`
	})
}

// A task needs two limits, each of which other tasks keep busy: it gets its share.
func TestATaskUnderTwoBusyLimitsGetsItsShare(t *testing.T) {
	p := newPlay(t, "select gw.set_limit('one', tasks => '{a,c}', max_running => 1)",
		"select gw.set_limit('two', tasks => '{b,c}', max_running => 1)",
		"select gw.add_job(t, to_json(n), priority => 0) from unnest('{a,b,c}'::text[]) as t, generate_series(1, 300) as n")
	ended := map[string]int{}
	var mu sync.Mutex
	var group sync.WaitGroup
	failed := make(chan error, 6)
	for n := range 6 {
		group.Go(func() {
			task, worker := []string{"a", "b", "c"}[n%3], fmt.Sprintf("w%d", n)
			for {
				var took int
				err := p.pool.QueryRow(t.Context(),
					schema("select count(gw.complete_job($1, b.id, b.lease)) from gw.get_job_batch($1, array[$2]) as b"), worker, task).Scan(&took)
				if err != nil {
					failed <- err
					return
				}
				mu.Lock()
				ended[task] += took
				done := ended["a"]+ended["b"] >= 400 || ended["c"] >= 300
				mu.Unlock()
				if done {
					return
				}
			}
		})
	}
	group.Wait()
	select {
	case err := <-failed:
		t.Fatal(err)
	default:
	}
	if ended["c"] < 40 {
		t.Errorf("ended are %v", ended)
	}
	t.Log(ended)
}

// Keys take turns, also at a total: a key with few jobs gets its half.
func TestAFloodOfOneKeyLeavesTheOtherItsHalfOfATotal(t *testing.T) {
	p := newPlay(t, "select gw.set_limit('l', tasks => '{a}', by => 'payload:c', total_running => 2, fair => true)",
		many("a", 500, `{"c":"flood"}`), many("a", 10, `{"c":"few"}`))
	few := 0
	for range 12 {
		now := p.claim("w", 2)
		p.count("the total", now, 2)
		few += len(ofPayload(now, "few"))
		p.complete(now...)
	}
	if few < 9 {
		t.Errorf("of 24 jobs %d are of the key with few", few)
	}
}

// A room that becomes free wakes somebody who serves what waits, and workers find each its job at once.
func TestIdleWorkersOfALaneRunAtOnce(t *testing.T) {
	p := newPlay(t, "select gw.set_limit('l', tasks => '{a}', max_running => 8)", "select gw.add_job('a', '0')")
	p.complete(p.claim("w", 1)...)
	p.do("select gw.add_job('a', to_json(n)) from generate_series(1, 8) as n")
	var group sync.WaitGroup
	var mu sync.Mutex
	got, begin := 0, time.Now()
	for n := range 8 {
		conn, err := pgx.Connect(t.Context(), p.conn.Config().ConnString())
		if err != nil {
			t.Fatal(err)
		}
		mine := &play{t: t, pool: p.pool, conn: conn}
		group.Go(func() {
			defer func() { _ = conn.Close(t.Context()) }()
			took := len(mine.claim(fmt.Sprintf("w%d", n), 1))
			mu.Lock()
			defer mu.Unlock()
			got += took
		})
	}
	group.Wait()
	if got != 8 {
		t.Errorf("%d of 8 workers have a job", got)
	}
	t.Log(time.Since(begin))
}

// A claim in a transaction that stays open holds its limits: everything else goes on, and why names the session.
func TestAnOpenClaimHoldsOnlyItsLimits(t *testing.T) {
	p := newPlay(t, "select gw.set_limit('held', tasks => '{a}', max_running => 5)",
		"select gw.set_limit('other', tasks => '{b}', max_running => 5)",
		"select gw.add_job(t, to_json(t)) from unnest('{a,a,b,c}'::text[]) as t",
		"select gw.add_job('c', '\"queued\"', 'q')")
	tx := p.begin(pgx.TxOptions{}, "select gw.get_job_batch('open', '{a}')")
	var pid int
	if err := tx.QueryRow(t.Context(), "select pg_backend_pid()").Scan(&pid); err != nil {
		t.Fatal(err)
	}
	got := p.drainBriefly("w")
	p.wants("beside it", got, `"b"`, `"c"`, `"queued"`)
	p.do("select gw.set_limit('other', tasks => '{b}', max_running => 1)") // does not wait
	p.do(`select gw.add_job('a', '"late"')`)
	if code := p.refused("select gw.set_limit('third', tasks => '{a}', max_running => 1)"); code == "" {
		t.Error("a limit was set under an open claim that holds a limit of the same task")
	}
	reason := pgtest.Value[string](t, p.pool, schema("select string_agg(w.reason || ' ' || w.detail, ';') from gw._private_jobs as j, gw.why(j.id) as w where j.payload::text = '\"late\"'"))
	t.Log(reason)
	p.commit(tx)
	p.count("after it", p.drain("w"), 2)
}

// drainBriefly is drain that makes four claims only, because the worker is told to search again as long as another
// claim is open.
func (p *play) drainBriefly(worker string) (jobs []job) {
	p.t.Helper()
	for range 8 {
		more := p.one(worker, 2)
		p.complete(more...)
		jobs = append(jobs, more...)
	}
	return jobs
}

// In a transaction that reads one snapshot, a claim starts no limited job, and a change of limits fails when it is old.
func TestAnOldSnapshotStartsAndChangesNothing(t *testing.T) {
	p := newPlay(t, "select gw.set_limit('l', tasks => '{a}', max_running => 1)",
		"select gw.add_job('a', to_json(n)) from generate_series(1, 2) as n")
	tx := p.begin(pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, "select count(*) from gw._private_jobs")
	p.count("the first", p.claim("w", 1), 1)
	var took int
	err := tx.QueryRow(t.Context(), schema("select count(*) from gw.get_job_batch('old', batch_size => 5)")).Scan(&took)
	if took > 0 {
		t.Errorf("the old snapshot starts %d jobs", took)
	} else if err != nil && codeOf(err) != "40001" {
		t.Fatal(err)
	}
	for _, act := range []string{
		"select gw.set_limit('l', tasks => '{a}', max_running => 2)", "select gw.drop_limit('l')",
		"select gw.pause('a')",
		"select gw.pause(queue => 'q')", "select gw.override_lane('k', 'x', max_running => 2)", "select gw.resume('a')",
	} {
		tx := p.begin(pgx.TxOptions{IsoLevel: pgx.RepeatableRead}, "select count(*) from gw._private_jobs")
		p.do("select gw.set_limit('k', tasks => '{z}', by => 'payload:c', max_running => 1)",
			"select gw.pause('other')", "select gw.resume('other')")
		if _, err := tx.Exec(t.Context(), schema(act)); codeOf(err) != "40001" {
			t.Errorf("%s with an old snapshot: %v", act, err)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Keys are read from whatever is in a payload, and a number is its value.
func TestKeysAreReadFromAnyPayload(t *testing.T) {
	p := newPlay(t, "select gw.set_limit('l', tasks => '{a}', by => 'payload:c', max_running => 1)")
	for _, payload := range []string{
		`{"c":7}`, `{"c":7.0}`, `{"c":7e0}`, `{"c":"7"}`, `{"c":"\u0000"}`, `{"c":"\ud800"}`, `{"c":"\u00e9"}`,
		`{"c":"é"}`, `{"c":null}`, `{"c":{}}`, `{"c":[1]}`, `{"c":true}`,
		`{"c":1e400}`, `{"c":1e131071}`, `[]`, `7`, `"c"`, `null`, `{}`, `{"c":""}`, `{"c":1,"c":2}`, `{"\u0063":5}`,
	} {
		if _, err := p.pool.Exec(t.Context(), schema("select gw.add_job('a', $1::json)"), payload); err != nil {
			t.Errorf("%s: %v", payload, err)
		}
	}
	if _, err := p.pool.Exec(t.Context(), schema("select gw.add_job('a', json_build_object('c', repeat('é', n))) from unnest(array[199, 201, 201, 5000, 100000]) as n")); err != nil {
		t.Error(err)
	}
	now := p.all("w")
	for _, value := range []string{"7", "7.0", "7e0"} {
		if value != "7" && len(payloadsWith(now, `{"c":`+value+`}`)) > 0 {
			t.Errorf("%s is a key of its own", value)
		}
	}
	for range 50 {
		if len(now) == 0 {
			break
		}
		p.complete(now...)
		now = p.all("w")
	}
	if left := pgtest.Value[int](t, p.pool, schema("select count(*) from gw._private_jobs")); left > 0 {
		t.Errorf("%d are left\n%s", left, p.left())
	}
}

func payloadsWith(jobs []job, payload string) (some []string) {
	for _, j := range jobs {
		if j.payload == payload {
			some = append(some, j.payload)
		}
	}
	return some
}

// A job of a dead worker holds its place at a strict limit for a while.
func TestAStrictLimitKeepsThePlaceOfARecoveredJob(t *testing.T) {
	p := newPlay(t, "select gw.set_setting('dead_after', '1 minute')",
		"create or replace function gw._gw_serving_since() returns timestamptz language sql as $$ select '-infinity'::timestamptz $$",
		"select gw.set_limit('l', tasks => '{a}', max_running => 1, strict => '1 hour')",
		"select gw.register_worker('dead')",
		"select gw.add_job('a', to_json(n)) from generate_series(1, 2) as n")
	p.count("the first", p.one("dead", 1), 1)
	p.do("update gw._gw_workers set last_seen_at = clock_timestamp() - interval '2 minutes' where id = 'dead'",
		"update gw._private_jobs set locked_at = locked_at - interval '2 minutes' where locked_by = 'dead'",
		"select gw.register_worker('keeper')",
		"update gw._gw_workers set last_seen_at = clock_timestamp(), beating_since = clock_timestamp() - interval '2 minutes' where id = 'keeper'",
		"select gw.heartbeat('keeper')")
	if pgtest.Value[bool](t, p.pool, schema("select exists (select from gw._private_jobs where locked_by = 'dead')")) {
		t.Fatal("the job was not recovered")
	}
	p.count("while the place is kept", p.claim("w", 5), 0)
}

// A publication of all tables must not make the engine's statements fail.
func TestAPublicationOfAllTablesStopsNothing(t *testing.T) {
	p := newPlay(t, "create publication everything for all tables", limitByField, fiveOfKeys)
	p.complete(p.one("w", 3)...)
	p.do("select gw.pause(queue => 'q')", "select gw.resume(queue => 'q')")
	p.beats(2)
	p.count("the rest", p.drain("w"), 7)
	p.beats(2)
	p.do("select gw.drop_limit('both')")
	p.beats(2)
}

// A limit of which the claims have priorities of their own.
func TestAPriorityPerJobIsNoTrap(t *testing.T) {
	p := newPlay(t, "select gw.set_limit('l', tasks => '{a}', by => 'payload:c', max_running => 1)",
		`select count(*) from gw.add_jobs(array(
		   select row('a', json_build_object('c', n % 7), null, now() - interval '1 hour', null, null, (n * 31 % 32000)::smallint, null)::gw.job_spec from generate_series(1, 3000) as n))`,
		"analyze gw._private_jobs")
	begin := time.Now()
	for range 10 {
		p.complete(p.claim("w", 10)...)
	}
	took := time.Since(begin)
	if took > 2*time.Second {
		t.Errorf("ten claims take %v", took)
	}
	t.Log(took)
}

// The same limit, set again while many keys run or many lanes are idle.
func TestALimitWithManyKeysIsSetFast(t *testing.T) {
	p := newPlay(t, "select gw.set_limit('l', tasks => '{a}', by => 'payload:c', max_running => 1)",
		`select count(*) from gw.add_jobs(array(
		   select row('a', json_build_object('c', n), null, now() - interval '1 hour', null, null, null, null)::gw.job_spec from generate_series(1, 3000) as n))`,
		"analyze gw._private_jobs")
	running := 0
	for range 100 {
		took := len(p.one("w", 500))
		running += took
		if took == 0 && running > 0 {
			break
		}
	}
	if running != 3000 {
		t.Errorf("%d run", running)
	}
	p.within("set_limit", 500*time.Millisecond,
		"select gw.set_limit('l', tasks => '{a}', by => 'payload:c', max_running => 2)")
}

func TestALimitIsSetFastOverManyWaitingJobs(t *testing.T) {
	p := newPlay(t, many("a", 100000, "{}"), "select gw.add_job('b', to_json(n)) from generate_series(1, 20) as n",
		"analyze gw._private_jobs")
	p.within("set_limit", 300*time.Millisecond, "select gw.set_limit('l', tasks => '{a}', max_running => 5)")
	for range 4 {
		p.within("a claim of another task", 300*time.Millisecond, "select gw.get_job_batch('w', '{b}')")
	}
	p.within("a claim of all tasks", time.Second, "select gw.get_job_batch('w', batch_size => 5)")
	p.within("drop_limit", 300*time.Millisecond, "select gw.drop_limit('l')")
}

// within makes a call up to three times, of which the fastest must be as fast as that.
func (p *play) within(what string, most time.Duration, sql string) {
	p.t.Helper()
	best := time.Hour
	for range 3 {
		begin := time.Now()
		p.do(sql)
		best = min(best, time.Since(begin))
		if best <= most || what == "drop_limit" {
			break
		}
	}
	if best > most {
		p.t.Errorf("%s takes %v", what, best)
	}
	p.t.Logf("%s: %v", what, best)
}

// A worker's id may not be that of the pause.
func TestNoWorkerMayBeCalledPause(t *testing.T) {
	p := newPlay(t, "select gw.add_job('a')")
	for _, call := range []string{"select gw.get_job_batch('pause')", "select gw.get_job('pause')",
		"select gw.register_worker('pause')"} {
		if code := p.refused(call); code != "GWWID" {
			t.Errorf("%s: %q", call, code)
		}
	}
}

// Ids of lanes start again at the end of their range, and skip those in use.
func TestIdsOfLanesStartAgain(t *testing.T) {
	p := newPlay(t, limitByField, `select gw.add_job('a', '{"c":1}')`)
	first := p.all("w")
	p.do("alter sequence gw._gw_lane_ids restart with -2147483647")
	for range 3 {
		p.do(`select gw.add_job('a', json_build_object('c', 'n' || n)) from generate_series(1, 4) as n`)
		p.count("four keys", p.drain("w"), 4)
	}
	p.complete(first...)
}

// When lane ids have been used up once, the sweeps of an idle limit leave nothing.
func TestIdleGatesAndLanesGo(t *testing.T) {
	p := newPlay(t, limitByField, `select gw.add_job('a', json_build_object('c', n)) from generate_series(1, 200) as n`)
	p.count("all", p.drain("w"), 200)
	p.beats(8)
	if left := pgtest.Value[int](t, p.pool, schema("select (select count(*) from gw._gw_lanes) + (select count(*) from gw._gw_gates) + (select count(*) from gw._gw_gate_ends)")); left > 100 {
		t.Errorf("%d rows are left", left)
	}
}
