package reshard

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shard"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// two returns two shards, a and b, of which a has all slots, with pools of their databases.
func two(t *testing.T) (m *Mover, a, b *pgxpool.Pool) {
	t.Helper()
	t.Parallel()
	shards := shard.Map{Shards: []shard.Shard{
		{Name: "a", Connection: pgtest.Database(t), Slots: shard.Range(0, 255)},
		{Name: "b", Connection: pgtest.Database(t)},
	}}
	m = &Mover{Wait: 0, Logger: slog.New(slog.DiscardHandler)}
	for _, s := range shards.Shards {
		d, err := Connect(t.Context(), s, "graphile_worker")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(d.Close)
		m.Databases = append(m.Databases, d)
	}
	if _, err := Join(t.Context(), shards, m.Databases); err != nil {
		t.Fatal(err)
	}
	return m, pgtest.Pool(t, shards.Shards[0].Connection), pgtest.Pool(t, shards.Shards[1].Connection)
}

func all() []int { return shard.Range(0, 255).List() }

// everything is all jobs of a database, without their ids, in the order in which those of each queue are claimed.
const everything = `
	select coalesce(string_agg(format('%s %s %s %s %s %s/%s %s %s %s %s', t.identifier, q.queue_name, j.payload, j.priority, j.run_at, j.attempts,
	                         j.max_attempts, j.last_error, j.key, j.revision, j.flags), e'\n' order by q.queue_name, j.priority, j.run_at, case when q.id is null then j.key end, j.id), '')
	  from graphile_worker._private_jobs as j
	  join graphile_worker._private_tasks as t on t.id = j.task_id
	  left join graphile_worker._private_job_queues as q on q.id = j.job_queue_id
	 where q.id is not null or j.key is not null`

// fill adds jobs of all kinds to a shard.
func fill(t *testing.T, pool *pgxpool.Pool) {
	t.Helper()
	pgtest.Exec(t, pool, `
		set timezone = 'UTC';
		select graphile_worker.add_job('one', json_build_object('n', n), queue_name => 'q' || n % 7, run_at => '2020-01-01', priority => n % 3) from generate_series(1, 200) as n;
		select graphile_worker.add_job('two', '{"text": "it''s \\u00fc \\\\ \"x\", {a}", "n": 1e131071}', job_key => 'k' || n, flags => '{f,"g h"}', max_attempts => n) from generate_series(1, 60) as n;
		select graphile_worker.add_job('three', 'null', queue_name => 'odd "name", \', job_key => e'key\twith\nall', run_at => 'infinity');
		select graphile_worker.add_job('three', run_at => '9999-12-31', job_key => 'late');
		select graphile_worker.add_job('loose', json_build_object('n', n)) from generate_series(1, 30) as n;
		update graphile_worker._private_jobs as j set last_error = 'it failed', attempts = j.max_attempts where j.key = 'k7';
		select graphile_worker._gw_put_job_contexts(array_agg(j.id), array_agg(j.revision), '{"trace": "x"}') from graphile_worker._private_jobs as j where j.key like 'k%';
		select graphile_worker.expect_result(j.id) from graphile_worker._private_jobs as j where j.key ~ '^k';
		insert into graphile_worker._gw_steps (job_id, revision, name, result) select j.id, j.revision, e'a "step",\\', '{"x": 1.50}' from graphile_worker._private_jobs as j where j.key ~ '^k';
		insert into graphile_worker._gw_progress (job_id, revision, attempt, percent, note) select j.id, j.revision, 1, 1::real / 3, 'a third' from graphile_worker._private_jobs as j where j.key ~ '^k';
		select graphile_worker.add_job_once('two', key => 'once');
		select graphile_worker.debounce_job('two', key => 'deb', wait => '1 hour');
		select graphile_worker.cron_schedule('nightly', '0 3 * * *', 'two', '{"x": 1}')`)
}

func TestEverythingThatBelongsToASlotMovesWithItUnchanged(t *testing.T) {
	m, a, b := two(t)
	fill(t, a)
	before := pgtest.Value[string](t, a, everything)
	moved, err := m.Move(t.Context(), all(), "b")
	if err != nil || moved.Slots != 256 || len(moved.Busy) > 0 {
		t.Fatalf("moved %+v, error %v", moved, err)
	}
	if after := pgtest.Value[string](t, b, everything); after != before {
		t.Errorf("the jobs are\n%.2000s\nthey were\n%.2000s", after, before)
	}
	if left := pgtest.Value[string](t, a, everything); left != "" {
		t.Errorf("there are jobs left:\n%s", left)
	}
	for name, n := range map[string]int{
		"_gw_job_context": 61, "_gw_steps": 61, "_gw_progress": 61, "_gw_expected": 61, "_gw_keyed_calls": 2, "_gw_schedules": 1, "_private_known_crontabs": 1, "_gw_shard_transit": 0,
	} {
		if got := pgtest.Value[int](t, b, "select count(*) from graphile_worker."+name); got != n {
			t.Errorf("%s has %d rows in the target, want %d", name, got, n)
		}
		if got := pgtest.Value[int](t, a, "select count(*) from graphile_worker."+name); got != 0 {
			t.Errorf("%s has %d rows left", name, got)
		}
	}
	// What refers to a job has its new id.
	for _, name := range []string{"_gw_job_context", "_gw_steps", "_gw_progress", "_gw_expected"} {
		if n := pgtest.Value[int](t, b, "select count(*) from graphile_worker."+name+" as c join graphile_worker._private_jobs as j on j.id = c.job_id and j.key ~ '^k'"); n != 61 {
			t.Errorf("%d rows of %s belong to their jobs", n, name)
		}
	}
	if n := pgtest.Value[int](t, b, "select count(*) from graphile_worker._gw_progress where percent = (1::real / 3)::real"); n != 61 {
		t.Errorf("%d of the progress are exact", n)
	}
	if state := pgtest.Value[string](t, b, "select o.state || ' ' || o.is_new from graphile_worker.add_job_once_at(graphile_worker.shard_slot('once'), 'two', key => 'once') as o"); state != "ready false" {
		t.Errorf("a second call under the key of add_job_once: %s", state)
	}
	if _, err := a.Exec(t.Context(), "select graphile_worker.add_job_at(7, 'one')"); code(err) != "GWSLT" {
		t.Errorf("the source: %v", err)
	}
	pgtest.Exec(t, b, "select graphile_worker.add_job_at(7, 'one')")

	// Jobs without a slot stay, until the shard is drained.
	if n := pgtest.Value[int](t, a, "select count(*) from graphile_worker.jobs"); n != 30 {
		t.Errorf("%d jobs are left, want the 30 without queue and key", n)
	}
	for range 3 {
		if _, err := m.MoveLoose(t.Context(), "a", "b", 20); err != nil {
			t.Fatal(err)
		}
	}
	if n := pgtest.Value[int](t, b, "select count(*) from graphile_worker.jobs where task_identifier = 'loose'"); n != 30 {
		t.Errorf("%d jobs without a slot have arrived", n)
	}
	// And back.
	if moved, err := m.Move(t.Context(), all(), "a"); err != nil || moved.Slots != 256 {
		t.Errorf("back: %+v, error %v", moved, err)
	}
	if v := pgtest.Value[int](t, a, "select min(version) from graphile_worker.list_shard_slots() where state = 'here'"); v != 3 {
		t.Errorf("the slots have version %d", v)
	}
}

func code(err error) string {
	if refusal, ok := errors.AsType[*pgconn.PgError](err); ok {
		return refusal.Code
	}
	return fmt.Sprint(err)
}

// errKilled stops a mover after a step as if its process had been killed.
var errKilled = errors.New("killed")

func TestAMoverThatIsKilledAfterAnyStepIsResumed(t *testing.T) {
	m, a, b := two(t)
	fill(t, a)
	want := lines(pgtest.Value[string](t, a, everything))
	slots := all()[:24]
	at := "a"
	for kill := 1; ; kill++ {
		target := map[string]string{"a": "b", "b": "a"}[at]
		killed := killedAfter(t, m, kill, func() error {
			_, err := m.Move(t.Context(), slots, target)
			return err
		})
		if killed {
			seen := lines(pgtest.Value[string](t, a, everything) + "\n" + pgtest.Value[string](t, b, everything))
			if len(slices.Compact(slices.Clone(seen))) != len(seen) {
				t.Fatalf("killed after step %d, a job is in both shards", kill)
			}
			if _, err := m.Resume(t.Context(), time.Hour); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Resume(t.Context(), 0); err != nil {
				t.Fatal(err)
			}
			if placed := place(t, m); len(placed.Moving) > 0 {
				t.Fatalf("killed after step %d, it is not resumed: %+v", kill, placed.Moving)
			}
		}
		if _, err := m.Move(t.Context(), slots, target); err != nil {
			t.Fatal(err)
		}
		got := lines(pgtest.Value[string](t, a, everything) + "\n" + pgtest.Value[string](t, b, everything))
		if !slices.Equal(got, want) {
			t.Fatalf("killed after step %d, the jobs are\n%s\nwant\n%s", kill, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if owned := place(t, m).Of(target); !owned.Has(0) || !owned.Has(23) {
			t.Fatalf("killed after step %d, shard %s has the slots %s", kill, target, owned)
		}
		at = target
		if !killed {
			if kill < 12 {
				t.Errorf("a move has only %d steps", kill)
			}
			return
		}
	}
}

// killedAfter calls move, and stops it after a number of steps. It returns whether there were so many.
func killedAfter(t *testing.T, m *Mover, steps int, move func() error) (killed bool) {
	t.Helper()
	defer func() {
		m.step = nil
		if r := recover(); r != nil {
			if r != errKilled {
				panic(r)
			}
			killed = true
		}
	}()
	m.step = func(string) {
		if steps--; steps == 0 {
			panic(errKilled)
		}
	}
	if err := move(); err != nil {
		t.Fatal(err)
	}
	return false
}

// lines returns the lines of a text that are not empty, sorted.
func lines(text string) []string {
	list := slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool { return line == "" })
	slices.Sort(list)
	return list
}

func place(t *testing.T, m *Mover) Placement {
	t.Helper()
	states, err := m.states(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return Place(states)
}

func TestASlotWhoseJobRunsStaysUntilItHasEnded(t *testing.T) {
	m, a, b := two(t)
	pgtest.Exec(t, a, `
		select graphile_worker.add_job_at(graphile_worker.shard_slot('q'), 'task', json_build_object('n', n), queue_name => 'q') from generate_series(1, 3) as n`)
	job := pgtest.Value[int64](t, a, "select id from graphile_worker.get_job('w')")
	slot := pgtest.Value[int](t, a, "select graphile_worker.shard_slot('q')::integer")
	moved, err := m.Move(t.Context(), []int{slot, (slot + 1) % 256}, "b")
	if err != nil || moved.Slots != 1 || len(moved.Busy) != 1 || moved.Busy[0].Job != job || moved.Busy[0].Slot != slot || *moved.Busy[0].Worker != "w" {
		t.Fatalf("moved %+v, error %v", moved, err)
	}
	if n := pgtest.Value[int](t, a, "select count(*) from graphile_worker.jobs"); n != 3 {
		t.Errorf("%d jobs are back in the queue, want 3", n)
	}
	pgtest.Exec(t, a, "select graphile_worker.add_job_at($1, 'task', '{\"n\": 4}', queue_name => 'q')", slot)

	// While the mover waits, no job of the queue starts in either shard.
	m.Wait = time.Minute
	exports := 0
	m.step = func(step string) {
		if step != "export" {
			return
		}
		if exports++; exports > 1 {
			return
		}
		for _, pool := range []*pgxpool.Pool{a, b} {
			if n := pgtest.Value[int](t, pool, "select count(*) from graphile_worker.get_job('other') where id is not null"); n > 0 {
				t.Error("another job of the queue was claimed")
			}
		}
		if _, err := a.Exec(t.Context(), "select graphile_worker.add_job_at($1, 'task')", slot); code(err) != "GWSMV" {
			t.Errorf("a producer meanwhile: %v", err)
		}
		pgtest.Exec(t, a, "select graphile_worker.fail_job('w', $1, 'again', retry_in => interval '0')", job)
	}
	if moved, err = m.Move(t.Context(), []int{slot}, "b"); err != nil || moved.Slots != 1 || moved.Jobs != 4 || exports < 2 {
		t.Fatalf("moved %+v after %d exports, error %v", moved, exports, err)
	}
	if order := pgtest.Value[string](t, b, "select string_agg(payload->>'n', ' ' order by priority, run_at, id) from graphile_worker._private_jobs"); order != "2 3 4 1" && order != "1 2 3 4" {
		t.Errorf("the order is %s", order)
	}
}

func TestAMovedJobHasNotEndedAndItsResultIsKeptWhereItArrives(t *testing.T) {
	m, a, b := two(t)
	for _, pool := range []*pgxpool.Pool{a, b} {
		pgtest.Exec(t, pool, "select graphile_worker.keep_task('task', '1 day', results => true)")
	}
	pgtest.Exec(t, a, `
		select graphile_worker.add_job_at(graphile_worker.shard_slot('busy'), 'task', queue_name => 'busy') from generate_series(1, 2);
		select graphile_worker.add_job_at(graphile_worker.shard_slot('idle'), 'task', queue_name => 'idle');
		select graphile_worker.await_jobs(array_agg(id)) from graphile_worker._private_jobs`)
	running := pgtest.Value[int64](t, a, "select id from graphile_worker.get_job('w')")
	ears, err := a.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer ears.Release()
	if _, err := ears.Exec(t.Context(), `listen "jobs:end"`); err != nil {
		t.Fatal(err)
	}
	moved, err := m.Move(t.Context(), all(), "b")
	if err != nil || len(moved.Busy) != 1 || moved.Slots != 255 {
		t.Fatalf("moved %+v, error %v", moved, err)
	}
	if n, err := ears.Conn().WaitForNotification(t.Context()); err != nil || n.Payload == fmt.Sprint(running) {
		t.Errorf("the notification is %+v, %v", n, err)
	}
	if ends := pgtest.Value[string](t, a, "select coalesce(string_agg(h.outcome, ' '), '') from graphile_worker.list_history() as h"); ends != "" {
		t.Errorf("the history of the source has %s", ends)
	}
	// The slot of the job that runs stays, with a job that was in transit meanwhile.
	if n := pgtest.Value[int](t, a, "select count(*) from graphile_worker._gw_expected where ended_at is null"); n != 2 {
		t.Errorf("the ends of %d jobs are expected, want 2", n)
	}
	pgtest.Exec(t, a, "select graphile_worker.complete_job('w', $1, result => '7')", running)
	for _, shard := range []*pgxpool.Pool{a, b} {
		job := pgtest.Value[int64](t, shard, "select id from graphile_worker.get_job('w')")
		pgtest.Exec(t, shard, "select graphile_worker.complete_job('w', $1, result => '7')", job)
		if end := pgtest.Value[string](t, shard, "select r.state || ' ' || r.result from graphile_worker.job_results(array[$1::bigint]) as r", job); end != "completed 7" {
			t.Errorf("the end of the job is %s", end)
		}
		if n := pgtest.Value[int](t, shard, "select count(*) from graphile_worker._gw_expected where job_id = $1 and ended_at is not null and result is not null", job); n != 1 {
			t.Error("the result is not stored for who asked")
		}
	}
}

func TestAMoveOfJobsWithoutASlotIsResumedToo(t *testing.T) {
	m, a, b := two(t)
	pgtest.Exec(t, a, "select graphile_worker.add_job_at(3, 'loose', json_build_object('n', n)) from generate_series(1, 50) as n")
	for kill := 1; kill <= 3; kill++ {
		if !killedAfter(t, m, kill, func() error {
			_, err := m.MoveLoose(t.Context(), "a", "b", 15)
			return err
		}) {
			t.Fatalf("there are fewer than %d steps", kill)
		}
		if _, err := m.Resume(t.Context(), 0); err != nil {
			t.Fatal(err)
		}
		if n := pgtest.Value[int](t, b, "select count(distinct payload->>'n') from graphile_worker._private_jobs"); n != 15*kill {
			t.Errorf("%d jobs have arrived", n)
		}
	}
	moved, err := m.Drain(t.Context(), "a")
	if err != nil || moved.Slots != 256 {
		t.Errorf("drained: %+v, error %v", moved, err)
	}
	if counts := pgtest.Value[string](t, b, "select count(*) || ' ' || count(distinct payload->>'n') from graphile_worker._private_jobs"); counts != "50 50" {
		t.Errorf("the other shard has %s jobs", counts)
	}
}
