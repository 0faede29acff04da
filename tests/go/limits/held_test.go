package limits

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

// A slot that becomes free while a claim holds its lane, and has seen it full, is used by a later claim: whether the claim between them
// leaves what says so to others, because its batch is full, or reads it.
func TestASlotThatFreesWhileAClaimHoldsItsLaneIsUsed(t *testing.T) {
	for batch := range 2 {
		if got := claimAfterAHeldLane(t, batch+1, "", ""); got != "3" {
			t.Errorf("the claim after one of %d jobs takes %q", batch+1, got)
		}
	}
}

func TestFrontsOfLanesThatOthersHoldMustStay(t *testing.T) {
	got := claimAfterAHeldLane(t, 2, "where s.is_missed and s.ended_id is not null", "where false")
	if got != "" {
		t.Errorf("the claim takes %q although the front was deleted", got)
	}
}

// claimAfterAHeldLane returns the payload of the job that is claimed after all of this. The claim that begins while the lane is held is
// of up to batch jobs.
func claimAfterAHeldLane(t *testing.T, batch int, sound, broken string) string {
	t.Helper()
	url := pgtest.Database(t)
	pool := pgtest.Pool(t, url)
	if sound != "" {
		if err := pgtest.Mutate(t.Context(), pool, "_gw_lock_freed_lanes", sound, broken); err != nil {
			t.Fatal(err)
		}
	}
	pgtest.Exec(t, pool, `
		select graphile_worker.set_limit('one', tasks => '{a}', max_running => 1);
		select graphile_worker.set_limit('other', tasks => '{b}', max_running => 1);
		select graphile_worker._gw_move_jobs() from generate_series(1, 9);
		select graphile_worker.add_job('a', '1', run_at => '2020-01-01'), graphile_worker.add_job('b', '2', run_at => '2020-01-02');
		select graphile_worker.get_job_batch('holder', batch_size => 2);
		select graphile_worker.add_job('a', '3', run_at => '2020-01-03'), graphile_worker.add_job('b', '4', run_at => '2020-01-04')`)

	// This claim sees the lane full, and puts its front at the commit.
	tx, err := pool.BeginTx(t.Context(), pgx.TxOptions{})
	if err != nil {
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

// A claim locks the fronts of added jobs before it knows which of their lanes other claims hold. These must not wait for it.
func TestAClaimDoesNotWaitForFrontsThatAnotherClaimHasLocked(t *testing.T) {
	if err := claimBesideLockedFronts(t, "", ""); err != nil {
		t.Error(err)
	}
}

func TestAClaimThatWaitsForFrontsIsSeen(t *testing.T) {
	if err := claimBesideLockedFronts(t, "where l.ctid = any (fronts) for update skip locked", "where l.ctid = any (fronts)"); err == nil {
		t.Error("the claim did not wait")
	}
}

func claimBesideLockedFronts(t *testing.T, sound, broken string) error {
	t.Helper()
	pool := pgtest.Pool(t, pgtest.Database(t))
	if sound != "" {
		if err := pgtest.Mutate(t.Context(), pool, "_gw_enter_lanes", sound, broken); err != nil {
			t.Fatal(err)
		}
	}
	pgtest.Exec(t, pool, `
		select graphile_worker.set_limit('fair', tasks => '{a}', by => 'payload:t', fair => true);
		select graphile_worker._gw_move_jobs() from generate_series(1, 9);
		select graphile_worker.add_job('a', '{"t":1}') from generate_series(1, 2);
		select graphile_worker.get_job_batch('first');
		select graphile_worker.add_job('a', '{"t":1}')`)
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	locked, err := tx.Exec(t.Context(), "select from graphile_worker._gw_fronts where lane_id is not null and group_id is not null for update")
	if err != nil || locked.RowsAffected() != 1 {
		t.Fatalf("%d fronts: %v", locked.RowsAffected(), err)
	}
	var claimed int
	return pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(t.Context(), "set local lock_timeout = '1 s'"); err != nil {
			return err
		}
		err := tx.QueryRow(t.Context(), "select count(*) from graphile_worker.get_job_batch('second', batch_size => 5)").Scan(&claimed)
		if err == nil && claimed == 0 {
			t.Error("nothing was claimed")
		}
		return err
	})
}
