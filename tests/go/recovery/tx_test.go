package recovery

import (
	"syscall"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// writes adds jobs of a task whose handler is given the transaction, and writes a row by it. kill is the one that kills its worker, 0 for
// none.
func (f *fleet) writes(task string, n, kill int) {
	f.t.Helper()
	f.exec(`create table effects (n integer, transaction text default txid_current()::text)`)
	f.exec(`
		select graphile_worker.add_job($3, json_build_object('n', n, 'kill', n = $2::integer), run_at => now() - interval '1 minute')
		  from generate_series(1, $1::integer) as n order by n`, n, kill, task)
}

// wantWrites checks that all rows up to n but one were written once.
func (f *fleet) wantWrites(n, except int) {
	f.t.Helper()
	if wrong := pgtest.Value[int](f.t, f.pool, `
		select count(*)::integer
		  from (select n from generate_series(1, $1::integer) as n left join effects as e using (n)
		         group by n having count(e.n) <> case when n = $2::integer then 0 else 1 end) as wrong`, n,
		except); wrong > 0 {
		f.t.Errorf("%d jobs did not have their effects once", wrong)
	}
}

func TestTheTransactionsOfAKilledWorkerAreUndoneAndItsJobsRunOnce(t *testing.T) {
	for _, task := range []string{"write", "write many"} {
		t.Run(task, func(t *testing.T) {
			t.Parallel()
			f := newFleet(t, pgtest.Database(t))
			pgtest.Hurry(t, f.pool)
			f.writes(task, 1000, 0)
			f.exec(`
				create function pause() returns trigger language plpgsql as $$ begin perform pg_sleep(0.001); return new; end $$;
				create trigger pause before insert on effects for each row execute function pause()`) // so that the worker is killed before the end
			victim := f.start("victim")
			f.await(`select count(*) > 100 from effects`)
			victim.signal(syscall.SIGKILL)
			<-victim.end
			f.start("heir")
			f.await(`select not exists (select from graphile_worker.jobs)`)
			f.wantWrites(1000, 0)
			if many, shared := task == "write many",
				pgtest.Value[bool](t, f.pool, `select count(distinct transaction) < count(*) from effects`); shared != many {
				t.Errorf("whether jobs have shared a transaction is %t, want %t", shared, many)
			}
		})
	}
}

func TestAJobThatKillsItsWorkerInATransactionOfSeveralIsFound(t *testing.T) {
	t.Parallel()
	f := newFleet(t, pgtest.Database(t))
	pgtest.Hurry(t, f.pool)
	f.exec(`select graphile_worker.set_setting('recovered_jobs', 'run'), graphile_worker.set_setting('crashes_allowed', '2')`)
	f.writes("write many", 400, 300)
	f.supervise("worker")
	f.await(`select count(*) = 1 and bool_and(attempts = max_attempts and locked_at is null) from graphile_worker.jobs`)
	f.wantWrites(400, 300)
	left := pgtest.Value[string](t, f.pool, `
		select format('%s %s', p.payload ->> 'n', left(p.last_error, 42)) from graphile_worker._private_jobs as p`)
	if want := "300 Probably crashed its workers: 2 died while"; left != want {
		t.Errorf("what is left is %q, want %q", left, want)
	}
}
