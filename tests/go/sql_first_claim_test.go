package gotest

import (
	"testing"
)

// plainReads is how many entries of the index of plain jobs, and blocks of the table and that index, this session has read,
// as far as it has not reported them yet: within a transaction it reports none.
const plainReads = `
	select pg_stat_get_xact_tuples_returned('graphile_worker.jobs_no_queue_index'::regclass)
	       + sum(pg_stat_get_xact_blocks_fetched(c.oid))::bigint
	  from unnest(array['_private_jobs', 'jobs_no_queue_index']) as name
	  join pg_class as c on c.oid = ('graphile_worker.' || name)::regclass`

// planning is how many blocks the planner itself may read, which looks for the ends of indexes.
const planning = 300

// readsOf runs a statement in a transaction of its own and returns how many entries and blocks it reads.
func (s *session) readsOf(sql string, args ...any) int64 {
	s.t.Helper()
	s.exec("begin")
	before := one[int64](s, plainReads)
	s.exec(sql, args...)
	reads := one[int64](s, plainReads) - before
	s.exec("commit")
	return reads
}

// firstClaim makes the first claim of a new session, of one job of the task, and returns what it has read and claimed.
func (d *database) firstClaim(task string) (reads, claimed int64) {
	d.t.Helper()
	s := d.session()
	s.exec("begin")
	ids := all[int64](s, "select id from graphile_worker.get_job_batch('worker', array[$1], forbidden_flags => '{forbidden}')", task)
	reads = one[int64](s, plainReads)
	s.exec("rollback")
	return reads, int64(len(ids))
}

// keepForAnHour makes what is kept for new sessions last, so that the test does not depend on how fast it is.
func (d *database) keepForAnHour() {
	d.t.Helper()
	d.watcher.exec("update graphile_worker._gw_claim_cursors set cursor[2] = cursor[2] + 3600000000")
}

// uglyTables are states of the table in which a claim has to step over many jobs to reach those that it may take.
var uglyTables = map[string]func(*session){
	"plain jobs": func(*session) {},
	"jobs of the future in front": func(s *session) {
		s.exec(`select count(*) from graphile_worker.add_jobs(array(
		          select row('task', null, null, now() + interval '1 hour', null, null, -1, null)::graphile_worker.job_spec
		            from generate_series(1, 30000)))`)
	},
	"forbidden flags": func(s *session) { s.addMany(30000, "task", "'{forbidden}'::text[]", -1) },
	"another task":    func(s *session) { s.addMany(30000, "other", "null", -1) },
}

// The first claim of a session uses the cursor that another session has stored.
func TestTheFirstClaimOfASessionStepsOverNothingThatAnotherHasSteppedOver(t *testing.T) {
	reads := make(map[string]int64)
	for name, fill := range uglyTables {
		d := newDatabase(t)
		fill(d.watcher)
		d.watcher.addMany(1000, "task", "null", 0)
		d.watcher.exec("vacuum analyze graphile_worker._private_jobs")
		teacher := d.session()
		teacher.exec("select graphile_worker.complete_job('worker', id) from graphile_worker.get_job_batch('worker', '{task}', forbidden_flags => '{forbidden}')")
		d.keepForAnHour()
		var claimed int64
		if reads[name], claimed = d.firstClaim("task"); claimed != 1 {
			t.Errorf("%s: claimed %d jobs", name, claimed)
		}
		t.Logf("%s: %d reads", name, reads[name])
	}
	for name, n := range reads {
		if most := 3*reads["plain jobs"] + planning; n > most {
			t.Errorf("%s: the first claim of a session reads %d entries and blocks, want %d at most", name, n, most)
		}
	}
}

// The cursor of another session expires as the session's own does.
func TestTheFirstClaimOfASessionFindsWhatCameInFrontOfAKeptCursor(t *testing.T) {
	d := newDatabase(t)
	uglyTables["another task"](d.watcher)
	d.watcher.addMany(10, "task", "null", 0)
	claim := "select id from graphile_worker.get_job_batch('worker', '{task}')"
	d.session().exec(claim)
	if n := one[int64](d.watcher, "select count(*) from graphile_worker._gw_claim_cursors"); n != 1 {
		t.Fatalf("%d cursors are kept", n)
	}
	front := one[int64](d.watcher, "select id from graphile_worker.add_job('task', priority => -2)")
	d.watcher.exec("update graphile_worker._gw_claim_cursors set cursor[2] = cursor[7], cursor[3] = cursor[7]")
	if ids := all[int64](d.session(), claim); len(ids) != 1 || ids[0] != front {
		t.Errorf("claimed %v, want %d", ids, front)
	}
}

// No claim waits for another one that keeps a cursor, and none fails because its snapshot does not know the kept ones.
func TestAKeptCursorHoldsNoClaimUp(t *testing.T) {
	d := newDatabase(t)
	uglyTables["another task"](d.watcher)
	d.watcher.addMany(10, "task", "null", 0)
	const claim = "select id from graphile_worker.get_job_batch('worker', '{task}')"
	fixed := d.sessionAt(repeatableRead)
	fixed.exec("begin")
	fixed.exec("select 1")
	holder := d.session()
	holder.exec("begin")
	holder.exec(claim)
	if n := one[int64](holder, "select count(*) from graphile_worker._gw_claim_cursors"); n != 1 {
		t.Errorf("%d cursors are kept", n)
	}
	other := d.session()
	other.exec("set lock_timeout = '1ms'")
	other.exec(claim)
	holder.exec("commit")
	fixed.exec(claim)
	fixed.exec("commit")
}
