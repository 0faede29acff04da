package gotest

import (
	"testing"
)

// Sessions that claim in turns from the same backlog, while a transaction that stays open prevents that the index entries
// of claimed jobs are removed. Each entry is skipped a few times, not once for each claim of each session.
func TestSessionsShareHowFarTheyHaveClaimed(t *testing.T) {
	const sessions, jobs, batch, most = 16, 20000, 100, 30
	d := newDatabase(t)
	// However slow the machine is, no claim searches from the beginning again.
	d.watcher.mutate("_gw_put_claim_cursor", "least(50 * took, 500000)", "3600000000")
	d.watcher.addMany(jobs, "task", "null", 0)
	holder := d.sessionAt(repeatableRead)
	holder.exec("begin")
	holder.exec("select 1 from graphile_worker._private_jobs limit 1")
	claimers := make([]*session, sessions)
	for i := range claimers {
		claimers[i] = d.session()
	}
	entries, claimed := int64(0), 0
	for i := 0; claimed < jobs; i++ {
		s := claimers[i%sessions]
		s.exec("begin")
		before := one[int64](s, indexReads)
		ids := all[int64](s, "select id from graphile_worker.get_job_batch('worker', batch_size => $1)", batch)
		entries += one[int64](s, indexReads) - before
		s.exec("select graphile_worker.complete_job_batch('worker', $1)", ids)
		s.exec("commit")
		if len(ids) == 0 {
			t.Fatalf("a claim found nothing after %d jobs", claimed)
		}
		claimed += len(ids)
	}
	t.Logf("%.1f entries a job", float64(entries)/jobs)
	if entries > most*jobs {
		t.Errorf("%.1f index entries were read for each job, want %d at most", float64(entries)/jobs, most)
	}
}

// A claim that met jobs which another one claimed and committed after this one's snapshot used to lock their new versions.
func TestNoCompletionWaitsForAClaim(t *testing.T) {
	d := newDatabase(t)
	d.watcher.addMany(30, "task", "null", 0)
	// A claim stops after it has taken its snapshot, for as long as the advisory lock of its worker is held.
	d.watcher.mutate("get_job_batch", "where (select (select q.job_queue_id",
		"where (select pg_advisory_xact_lock_shared(hashtext(worker_id)) is not null and (select q.job_queue_id")
	d.watcher.exec("select pg_advisory_lock(hashtext('late'))")
	early, late := d.session(), d.session()
	late.exec("begin")
	const claim = "select id from graphile_worker.get_job_batch($1, batch_size => 10)"
	waiting := start[int64](late, claim, "late")
	waiting.awaitBlocked(d.watcher)
	taken := all[int64](early, claim, "early")
	d.watcher.exec("select pg_advisory_unlock(hashtext('late'))")
	if ids, err := waiting.end(); err != nil || len(ids) != 10 || ids[0] != taken[9]+1 {
		t.Fatalf("the later claim took %v, error %v; want the ten jobs after %v", ids, err, taken)
	}
	early.exec("set lock_timeout = '1s'")
	if done := all[int64](early, "select graphile_worker.complete_job_batch('early', $1)", taken); len(done) != 10 {
		t.Errorf("completed %v, want %v", done, taken)
	}
	late.exec("commit")
}

// A job stays as it was if a claim, or a lock, is undone, and the next claim takes it first.
func TestAJobWhoseClaimWasUndoneIsNextInOrder(t *testing.T) {
	d := newDatabase(t)
	d.watcher.addMany(30, "task", "null", 0)
	const claim = "select id from graphile_worker.get_job_batch('worker', batch_size => 10)"
	s, other := d.session(), d.session()
	for _, undo := range []string{
		claim,
		"select id from graphile_worker._private_jobs order by id limit 10 for update",
		"select id from graphile_worker._private_jobs order by id limit 10 for key share",
	} {
		s.exec("begin")
		s.exec(undo)
		s.exec("rollback")
		other.exec("begin")
		if ids := all[int64](other, claim); len(ids) != 10 || ids[0] != 1 {
			t.Errorf("after %s, claimed %v, want 1 to 10", undo, ids)
		}
		other.exec("rollback")
	}
	other.exec("begin")
	other.exec("select id from graphile_worker._private_jobs order by id limit 10 for update")
	if ids := all[int64](s, claim); len(ids) != 10 || ids[0] != 11 {
		t.Errorf("beside a lock on 1 to 10, claimed %v, want 11 to 20", ids)
	}
	if ids := all[int64](other, claim); len(ids) != 10 || ids[0] != 1 {
		t.Errorf("claimed %v in the transaction that has locked them, want 1 to 10", ids)
	}
	other.exec("commit")
}

// Claims of many jobs that have to skip many entries run two at a time, but none waits long for a transaction that stays open.
func TestLargeClaimsTakeTurns(t *testing.T) {
	d, first := deadFront(t, 8000)
	const claim = "select id from graphile_worker.get_job_batch('worker', batch_size => $1)"
	withCursor := func(s *session) *session {
		s.exec("select id from graphile_worker.get_job_batch('worker', batch_size => 10)")
		if one[string](s, claimCursor) == "" {
			t.Fatal("a new session has no claim cursor")
		}
		return s
	}
	holders := []*session{first, withCursor(d.session())}
	for _, s := range holders {
		s.exec("set lock_timeout = '1ms'")
		s.exec("begin")
		if ids := all[int64](s, claim, 1000); len(ids) != 1000 {
			t.Fatalf("one of two claims took %d jobs, want 1000", len(ids))
		}
	}

	third := withCursor(d.session())
	waiting := start[int64](third, claim, 1000)
	waiting.awaitBlocked(holders[third.conn.PgConn().PID()%2])
	if ids, err := waiting.end(); err != nil || len(ids) != 500 {
		t.Errorf("beside them, a claim took %d jobs, error %v; want 500", len(ids), err)
	}
	third.exec("set lock_timeout = '1ms'")
	if ids := all[int64](third, claim, 20); len(ids) != 20 {
		t.Errorf("a claim of 20 took %d", len(ids))
	}
	fixed := d.sessionAt(repeatableRead)
	fixed.exec("set gw.claim_cursor = '" + one[string](third, claimCursor) + "'")
	fixed.exec("set lock_timeout = '1ms'")
	if ids := all[int64](fixed, claim, 1000); len(ids) != 500 {
		t.Errorf("a claim with a fixed snapshot took %d jobs, want 500", len(ids))
	}

	// One that waits comes before one that has just had its turn.
	holder := holders[third.conn.PgConn().PID()%2]
	third.exec("begin")
	waiting = start[int64](third, claim, 1000)
	waiting.awaitBlocked(holder)
	holder.exec("commit")
	if ids := all[int64](holder, claim, 1000); len(ids) != 500 {
		t.Errorf("beside the claim that has waited for it, a claim took %d jobs, want 500", len(ids))
	}
	if ids, err := waiting.end(); err != nil || len(ids) != 500 {
		t.Errorf("after it, the claim that has waited took %d jobs, error %v; want 500", len(ids), err)
	}
	third.exec("commit")
	if ids := all[int64](third, claim, 1000); len(ids) != 1000 {
		t.Errorf("after one of them, a claim took %d jobs, want 1000", len(ids))
	}
	for _, s := range holders {
		s.exec("rollback")
	}
}
