package gotest

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
)

// kill makes a worker silent for an hour, and what it holds as old.
func (s *session) kill(worker string) {
	s.t.Helper()
	s.exec("update graphile_worker._gw_workers set last_seen_at = now() - interval '1 hour' where id = $1", worker)
	s.exec("update graphile_worker._private_jobs set locked_at = now() - interval '1 hour' where locked_by = $1",
		worker)
}

// mayJudge registers a worker that has beaten for long.
func (s *session) mayJudge(worker string) {
	s.t.Helper()
	s.exec("create or replace function graphile_worker._gw_serving_since() returns timestamptz language sql as $$ select '-infinity'::timestamptz $$")
	s.exec("select graphile_worker.register_worker($1)", worker)
	s.exec("update graphile_worker._gw_workers set beating_since = now() - interval '1 hour' where id = $1", worker)
}

const beatOf = "select died from graphile_worker.heartbeat($1)"

func TestOneWorkerAtATimeRecovers(t *testing.T) {
	d := newDatabase(t)
	first, second := d.session(), d.session()
	first.exec("select graphile_worker.add_job('task')")
	first.exec("select graphile_worker.register_worker('dead')")
	first.exec("select graphile_worker.get_job('dead')")
	first.kill("dead")
	first.mayJudge("one")
	second.mayJudge("other")

	first.exec("begin")
	if died := all[[]string](first, beatOf, "one")[0]; len(died) != 1 {
		t.Errorf("the first found %q dead", died)
	}
	if died := all[[]string](second, beatOf, "other")[0]; len(died) != 0 {
		t.Errorf("the second found %q dead while the first recovers", died)
	}
	if all[bool](second, "select graphile_worker._gw_is_keeper()")[0] {
		t.Error("there are two keepers")
	}
	// The first dies in the middle of it: with its connection ends the lock, and what it did is undone.
	if err := first.conn.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	pgtest.Await(t, pgtest.Pool(t, d.url), "select graphile_worker._gw_is_keeper()")
	if died := all[[]string](second, beatOf, "other")[0]; len(died) != 1 || died[0] != "dead" {
		t.Errorf("then the second finds %q dead", died)
	}
	if n := all[int](second, "select count(*)::int from graphile_worker.jobs where locked_at is not null")[0]; n != 0 {
		t.Errorf("%d jobs are locked", n)
	}
}

// Any role may take advisory locks; recovery does not use one.
func TestAdvisoryLocksOfAStrangerStopNoRecovery(t *testing.T) {
	d := newDatabase(t)
	stranger, keeper := d.session(), d.session()
	keeper.exec("select graphile_worker.add_job('task')")
	keeper.exec("select graphile_worker.register_worker('dead')")
	keeper.exec("select graphile_worker.get_job('dead')")
	keeper.kill("dead")
	keeper.mayJudge("keeper")
	stranger.exec(`
		select pg_advisory_lock(7239153::bigint * 4294967296 + c.oid::bigint)
		  from pg_class as c
		 where c.relnamespace = 'graphile_worker'::regnamespace`)

	if died := all[[]string](keeper, beatOf, "keeper")[0]; len(died) != 1 {
		t.Errorf("%q found dead, want the one that is", died)
	}
}

func TestALockedJobOfADeadWorkerIsRecoveredLater(t *testing.T) {
	d := newDatabase(t)
	admin, keeper := d.session(), d.session()
	keeper.exec("select graphile_worker.add_job('task', job_key => k) from unnest(array['free', 'locked']) as k")
	keeper.exec("select graphile_worker.register_worker('dead')")
	keeper.exec("select graphile_worker.get_job_batch('dead', batch_size => 2)")
	keeper.kill("dead")
	keeper.mayJudge("keeper")

	admin.exec("begin")
	admin.exec("select from graphile_worker._private_jobs where key = 'locked' for update")
	if died := all[[]string](keeper, beatOf, "keeper")[0]; len(died) != 0 {
		t.Errorf("%q is done with", died)
	}
	held := all[string](keeper, "select key from graphile_worker.jobs where locked_by = 'dead'")
	if len(held) != 1 || held[0] != "locked" {
		t.Errorf("the dead worker holds %q", held)
	}
	admin.exec("commit")
	if died := all[[]string](keeper, beatOf, "keeper")[0]; len(died) != 1 {
		t.Errorf("then %q is done with", died)
	}
	if n := all[int](keeper, "select count(*)::int from graphile_worker.jobs where locked_at is not null")[0]; n != 0 {
		t.Errorf("%d jobs are locked", n)
	}
}

func TestARecoveryDoesNotWaitForADeadWorkerWhoseBeatIsOnItsWay(t *testing.T) {
	d := newDatabase(t)
	late, keeper := d.session(), d.session()
	keeper.exec("select graphile_worker.add_job('task')")
	keeper.exec("select graphile_worker.register_worker('late')")
	keeper.exec("select graphile_worker.get_job('late')")
	keeper.kill("late")
	keeper.mayJudge("keeper")

	late.exec("begin")
	late.exec("select from graphile_worker.heartbeat('late')")
	keeper.exec("set lock_timeout = '10s'")
	if died := all[[]string](keeper, beatOf, "keeper")[0]; len(died) != 0 {
		t.Errorf("%q was found dead", died)
	}
	late.exec("commit")
	if held := all[string](keeper, "select locked_by from graphile_worker.jobs"); len(held) != 1 || held[0] != "late" {
		t.Errorf("the job is held by %q, want the worker that has beaten", held)
	}
}

// A heartbeat must not wait for a session that has locked a job: its worker would count as dead.
func TestABeatDoesNotWaitForALockedJob(t *testing.T) {
	d := newDatabase(t)
	admin, worker := d.session(), d.session()
	worker.exec("select graphile_worker.add_job('task', queue_name => 'q')")
	worker.exec("select graphile_worker.register_worker('worker')")
	worker.exec("select graphile_worker.get_job('worker')")
	worker.exec("update graphile_worker._private_jobs set locked_at = now() - interval '2 hours'")
	admin.exec("begin")
	admin.exec("select from graphile_worker._private_jobs for update")
	worker.exec("set lock_timeout = '10s'")
	held := all[[]int64](worker, `
		select b.held_ids
		  from graphile_worker.jobs as j,
		       graphile_worker.heartbeat('worker', array[j.id], array[(extract(epoch from j.locked_at) * 1000000)::bigint]) as b`)[0]
	if len(held) != 1 {
		t.Errorf("held are %v, want the locked job, with the lease as it is", held)
	}
}

func TestEachSchemaHasAKeeperOfItsOwn(t *testing.T) {
	d := newDatabase(t)
	one, other := d.session(), d.session()
	migrator, err := migrate.New(one.conn.Config(), migrate.Config{Schema: "other schema"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrator.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	one.exec("begin")
	if !all[bool](one, "select graphile_worker._gw_is_keeper()")[0] ||
		!all[bool](other, `select "other schema"._gw_is_keeper()`)[0] {
		t.Error("one schema's keeper keeps the other's out")
	}
}

// A sweep and a recovery skip what somebody has locked, also the row of a queue, such as a pause in an open transaction.
func TestASweepDoesNotWaitForALockedQueue(t *testing.T) {
	for name, call := range map[string]string{
		"sweep":    "select graphile_worker.reset_stale_locks()",
		"recovery": "select freed from graphile_worker._gw_recover_workers('1 minute')", // what a heartbeat does beside its errors
	} {
		t.Run(name, func(t *testing.T) {
			d := newDatabase(t)
			admin, keeper := d.session(), d.session()
			keeper.exec("select graphile_worker.register_worker('dead')")
			keeper.exec("select graphile_worker.add_job('task', queue_name => 'q')")
			keeper.exec("select graphile_worker.get_job('dead')")
			keeper.kill("dead")
			for _, table := range []string{"_private_jobs", "_private_job_queues"} {
				keeper.exec("update graphile_worker." + table + " set locked_at = now() - interval '5 hours'")
			}
			admin.exec("begin")
			admin.exec("select graphile_worker.pause(queue => 'q')")
			keeper.exec("set lock_timeout = '1s'")
			if freed := all[int64](keeper, call)[0]; freed != 0 {
				t.Errorf("%d jobs of the locked queue are freed", freed)
			}
			admin.exec("rollback")
			if freed := all[int64](keeper, call)[0]; freed != 1 {
				t.Errorf("then %d jobs are freed", freed)
			}
		})
	}
}
