package grants

import (
	"strings"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

func aMonitorSeesNoLaneAndNoReason(q *queue) {
	q.exec(`select S.set_limit('lanes', tasks => array['task'], by => 'payload:tenant', max_running => 1)`)
	q.exec(`select S.add_job('task', '{"tenant":"SECRET"}') from generate_series(1, 3)`)
	q.exec(`select S.get_job_batch('w', array['task'], 10)`)
	q.exec(`select S.pause(limit_name => 'lanes', lane => 'SECRET', reason => 'SECRET'), S.pause(task => 'task', reason => 'SECRET')`)
	q.exec(`update S._gw_pauses set paused_at = now() - interval '2 days'`)
	q.exec(`update S._private_jobs set locked_at = now() - interval '3 hours 50 minutes', run_at = run_at - interval '3 hours 55 minutes' where locked_at is not null`)
	q.exec(`update S._private_jobs set run_at = run_at - interval '3 hours 55 minutes' where locked_at is null`)
	q.exec(`update S._gw_lanes set run_at = run_at - interval '3 hours 55 minutes'`)
	monitor, admin := q.poolAs("monitor"), q.poolAs("admin")
	for _, from := range []string{"API.doctor()", "API.list_pauses()", "API.list_limits()"} {
		text := q.text("select coalesce(json_agg(r)::text, '') from " + from + " as r")
		seen, all := pgtest.Value[string](q.t, monitor, text), pgtest.Value[string](q.t, admin, text)
		if strings.Contains(seen, "SECRET") {
			q.t.Errorf("%s shows a monitor what payloads and reasons have: %s", from, seen)
		}
		if !strings.Contains(all, "SECRET") && from != "API.list_limits()" {
			q.t.Errorf("%s hides it from an admin: %s", from, all)
		}
	}
	q.exec(`select S.resume(limit_name => 'lanes', lane => 'SECRET'), S.resume(task => 'task'), S.drop_limit('lanes')`)
}

func expectedResultsAreThoseOfOwnJobs(q *queue) {
	q.exec(`select S.set_setting('max_result', '1024')`)
	other := pgtest.Value[int64](q.t, q.pool, q.text("select id from S.add_job('mail')"))
	producer := q.poolAs("producer")
	expect := func(sql string, args ...any) int64 {
		q.execAs(producer, sql, args...)
		return pgtest.Value[int64](q.t, q.pool, q.text("select count(*) from S._gw_expected"))
	}
	for _, id := range []int64{other, other + 1, other + 1000000} {
		if n := expect("select API.expect_result($1)", id); n != 0 {
			q.t.Errorf("a producer has asked for the result of job %d, which is not its own: %d rows", id, n)
		}
	}
	for i, sql := range []string{
		"select API.expect_result(API.enqueue('mail'))",
		"do $$ begin perform API.expect_result(API.enqueue('mail')); end $$",
		"do $$ declare id bigint; begin begin id := API.enqueue('mail'); exception when others then null; end; perform API.expect_result(id); end $$",
		"begin; savepoint a; select API.enqueue('mail', job_key => 'k'); release a; select API.expect_result(API.enqueue('mail', job_key => 'k')); commit",
	} {
		if n := expect(sql); n != int64(i+1) {
			q.t.Errorf("after %s, %d results are expected", sql, n)
		}
	}
	// An admin, and whoever calls the queue's own functions, may ask for those of all jobs.
	q.exec("select S.expect_result($1)", other)
	q.exec(`select S.complete_job('w', j.id, result => to_json(repeat('x', 2000))) from S.get_job_batch('w', array['mail'], 10) as j`)
	if n := pgtest.Value[int64](q.t, q.pool, q.text("select count(*) from S._private_jobs where task_id = (select id from S._private_tasks where identifier = 'mail')")); n != 0 {
		q.t.Errorf("%d jobs that succeeded have not ended", n)
	}
	q.exec(`delete from S._gw_expected`)
	q.exec(`select S.set_setting('max_result', null)`)
}

// A producer that waits in a loop, beside a transaction that has added a job and stays open.
func waitingCostsOthersNothing(q *queue) {
	q.execAs(q.pool, "drop trigger if exists _gw_jobs_ended on S._private_jobs")
	open, err := q.pool.Begin(q.t.Context())
	if err != nil {
		q.t.Fatal(err)
	}
	defer func() { _ = open.Rollback(q.t.Context()) }()
	if _, err := open.Exec(q.t.Context(), q.text("select S.add_job('a')")); err != nil {
		q.t.Fatal(err)
	}
	attacker := q.poolAs("producer")
	stop, stopped := make(chan struct{}), make(chan int)
	go func() {
		calls := 0
		for ; ; calls++ {
			select {
			case <-stop:
				stopped <- calls
				return
			default:
			}
			sql := []string{"select API.await_jobs('{}')", "select API.await_jobs('{1,2}')",
				"begin; select API.await_jobs('{}'); rollback"}[calls%3]
			if _, err := attacker.Exec(q.t.Context(), q.text(sql)); err != nil {
				q.t.Errorf("%s: %v", sql, err)
			}
		}
	}()
	var slow time.Duration
	const adds = 300
	for range adds {
		begun := time.Now()
		q.exec("select S.add_job('b')")
		if took := time.Since(begun); took > 50*time.Millisecond {
			slow += took
		}
	}
	close(stop)
	// One wait of a tenth of a second a minute is allowed. Each add waited for almost half a second when await_jobs held others up; on a
	// slow machine with a busy neighbour a tenth is nothing unusual.
	if calls := <-stopped; slow > adds*100*time.Millisecond || calls == 0 {
		q.t.Errorf("%d adds beside %d calls of await_jobs waited for %s", adds, calls, slow)
	}
	if err := open.Commit(q.t.Context()); err != nil {
		q.t.Fatal(err)
	}
	// Nor does its transaction hold anything that others need, however long it lasts. A heartbeat begins to watch.
	waiting, err := attacker.Begin(q.t.Context())
	if err != nil {
		q.t.Fatal(err)
	}
	defer func() { _ = waiting.Rollback(q.t.Context()) }()
	var watches bool
	id := pgtest.Value[int64](q.t, q.pool, q.text("select max(id) from S._private_jobs"))
	if err := waiting.QueryRow(q.t.Context(), q.text("select API.await_jobs(array[$1::bigint])"),
		id).Scan(&watches); err != nil || watches {
		q.t.Errorf("a stranger that waits has created the trigger (%v)", err)
	}
	q.exec("set lock_timeout = '5s'; select S.add_job('b'); reset lock_timeout")
	if err := waiting.Commit(q.t.Context()); err != nil {
		q.t.Fatal(err)
	}
	q.execAs(q.pool, "drop trigger if exists _gw_jobs_ended on S._private_jobs")
	q.exec("select S.heartbeat('any')")
	if !pgtest.Value[bool](q.t, attacker, q.text("select API.await_jobs('{}')")) {
		q.t.Error("while somebody waits, a heartbeat does not create the trigger")
	}
}
