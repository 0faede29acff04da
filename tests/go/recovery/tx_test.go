package recovery

import (
	"syscall"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// writes adds jobs whose handlers are given the transaction, and write a row by it. kill is the one that kills its worker, 0 for none.
func (f *fleet) writes(n, kill int) {
	f.t.Helper()
	f.exec(`create table effects (n integer, transaction text default txid_current()::text)`)
	f.exec(`
		select graphile_worker.add_job('write', json_build_object('n', n, 'kill', n = $2::integer), run_at => now() - interval '1 minute')
		  from generate_series(1, $1::integer) as n order by n`, n, kill)
}

// wantWrites checks that all rows up to n but one were written once.
func (f *fleet) wantWrites(n, except int) {
	f.t.Helper()
	if wrong := pgtest.Value[int](f.t, f.pool, `
		select count(*)::integer
		  from (select n from generate_series(1, $1::integer) as n left join effects as e using (n)
		         group by n having count(e.n) <> case when n = $2::integer then 0 else 1 end) as wrong`, n, except); wrong > 0 {
		f.t.Errorf("%d jobs did not have their effects once", wrong)
	}
}

func TestJobsOfATransactionWhoseWorkerIsKilledBecomeSuspectsAndRunOnce(t *testing.T) {
	t.Parallel()
	f := newFleet(t, pgtest.Database(t))
	pgtest.Hurry(t, f.pool)
	f.writes(5000, 0)
	f.exec(`
		create function pause() returns trigger language plpgsql as $$ begin perform pg_sleep(0.001); return new; end $$;
		create trigger pause before insert on effects for each row execute function pause()`) // so that the worker is killed before the end
	victim := f.start("victim")
	f.await(`select exists (select from graphile_worker._gw_batches) and (select count(*) from effects) > 100`)
	victim.signal(syscall.SIGKILL)
	<-victim.end
	recorded := pgtest.Value[int](t, f.pool, `select coalesce(sum(jobs), 0)::integer from graphile_worker._gw_batches`)
	if recorded == 0 {
		t.Fatal("the worker died between its batches")
	}
	f.await(`select not exists (select from pg_stat_activity where datname = current_database() and state like '%in transaction')`)
	f.exec(`select graphile_worker.register_worker('another')`)
	f.await(`
		with beat as materialized (select b from graphile_worker.heartbeat('another') as b)
		select (select count(*) from beat) > 0 and not exists (select from graphile_worker._gw_batches)`)
	f.exec(`select graphile_worker.deregister_worker('another')`)
	if suspects := pgtest.Value[int](t, f.pool, `select count(*)::integer from graphile_worker._gw_suspects`); suspects < recorded {
		t.Errorf("%d jobs are suspects, want those %d that batches may have had", suspects, recorded)
	}
	f.start("heir")
	f.await(`select not exists (select from graphile_worker.jobs)`)
	f.wantWrites(5000, 0)
	if shared := pgtest.Value[int](t, f.pool, `select max(n)::integer from (select count(*) as n from effects group by transaction) as t`); shared < 2 {
		t.Error("no jobs shared a transaction")
	}
}

func TestAJobThatKillsItsWorkerInATransactionOfSeveralIsFound(t *testing.T) {
	t.Parallel()
	f := newFleet(t, pgtest.Database(t))
	pgtest.Hurry(t, f.pool)
	f.exec(`select graphile_worker.set_setting('recovered_jobs', 'run'), graphile_worker.set_setting('crashes_allowed', '2')`)
	f.writes(2000, 1500)
	f.supervise("worker")
	f.await(`select count(*) = 1 and bool_and(attempts = max_attempts and locked_at is null) from graphile_worker.jobs`)
	f.wantWrites(2000, 1500)
	left := pgtest.Value[string](t, f.pool, `
		select format('%s %s', p.payload ->> 'n', left(p.last_error, 42)) from graphile_worker._private_jobs as p`)
	if want := "1500 Probably crashed its workers: 2 died while"; left != want {
		t.Errorf("what is left is %q, want %q", left, want)
	}
}
