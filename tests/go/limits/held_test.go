package limits

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

// A slot that becomes free while a claim holds its limit, and has seen it full, is used by a later claim, whether a
// claim of other jobs comes between them or not.
func TestASlotThatFreesWhileAClaimHoldsItsLimitIsUsed(t *testing.T) {
	for batch := range 2 {
		if got := claimAfterAHeldLimit(t, batch+1, "", ""); got != "3" {
			t.Errorf("the claim after one of %d jobs takes %q", batch+1, got)
		}
	}
}

func TestAnEndThatIsLostIsSeen(t *testing.T) {
	if got := claimAfterAHeldLimit(t, 2, "where j.queue_id <= -16", "where false"); got != "" {
		t.Errorf("the claim takes %q although nobody was told of the end", got)
	}
}

// claimAfterAHeldLimit returns the payload of the job that is claimed after all of this. The claim that begins while
// the limit is held is of up to batch jobs.
func claimAfterAHeldLimit(t *testing.T, batch int, sound, broken string) string {
	t.Helper()
	url := pgtest.Database(t)
	pool := pgtest.Pool(t, url)
	if sound != "" {
		if err := pgtest.Mutate(t.Context(), pool, "_gw_release_gates", sound, broken); err != nil {
			t.Fatal(err)
		}
	}
	pgtest.Exec(t, pool, `
		select graphile_worker.set_limit('one', tasks => '{a}', max_running => 1);
		select graphile_worker.set_limit('other', tasks => '{b}', max_running => 1);
		select graphile_worker.add_job('a', '1', run_at => '2020-01-01'), graphile_worker.add_job('b', '2', run_at => '2020-01-02');
		select graphile_worker.get_job_batch('holder', batch_size => 2);
		select graphile_worker.add_job('a', '3', run_at => '2020-01-03'), graphile_worker.add_job('b', '4', run_at => '2020-01-04');
		select graphile_worker._gw_look_at_limits(array(select id from graphile_worker._gw_limits))`)

	tx, err := pool.BeginTx(t.Context(), pgx.TxOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "select from graphile_worker._gw_limits where name = 'one' for no key update"); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "select graphile_worker.get_job('first', '{a}')"); err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, pool, "select graphile_worker.complete_job('holder', id) from graphile_worker.jobs where locked_by = 'holder'")
	pgtest.Exec(t, pool, "select graphile_worker.get_job_batch('second', '{b}', $1)", batch)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	return pgtest.Value[string](t, pool, "select coalesce((select payload::text from graphile_worker.get_job('third', '{a}')), '')")
}

// A running job that another transaction has locked while its task gets a limit counts after the next sweep, until its
// end.
func TestAJobThatIsLockedWhenItsLimitIsSetCountsAfterASweep(t *testing.T) {
	for _, queue := range []string{"null", "'queue'"} {
		pool := pgtest.Pool(t, pgtest.Database(t))
		pgtest.Exec(t, pool, `
			select graphile_worker.register_worker('holder', '{a}');
			select graphile_worker.add_job('a', queue_name => `+queue+`);
			select graphile_worker.get_job('holder')`)
		tx, err := pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec(t.Context(), "select from graphile_worker._private_jobs for update"); err != nil {
			t.Fatal(err)
		}
		pgtest.Exec(t, pool, "select graphile_worker.set_limit('one', tasks => '{a}', max_running => 1)")
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		pgtest.Exec(t, pool, `
			select graphile_worker._gw_sweep_limits();
			select graphile_worker.add_job('a')`)
		claim := "select count(*) from graphile_worker.get_job_batch('holder', batch_size => 2)"
		if n := pgtest.Value[int](t, pool, claim); n != 0 {
			t.Errorf("with the queue %s, %d jobs start beside it", queue, n)
		}
		pgtest.Exec(t, pool, "select graphile_worker.complete_job('holder', id) from graphile_worker.jobs where locked_by = 'holder'")
		if n := pgtest.Value[int](t, pool, claim); n != 1 {
			t.Errorf("with the queue %s, %d jobs start after it", queue, n)
		}
		if n := pgtest.Value[int](t, pool, "select coalesce(sum(mended), 0)::integer from graphile_worker._gw_mends"); n != 0 {
			t.Errorf("with the queue %s, %d gates count as mended by hand", queue, n)
		}
	}
}
