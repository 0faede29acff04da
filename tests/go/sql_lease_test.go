package gotest

import "testing"

// A worker that reports after its claim has ended changes nothing, in whatever way it ended and whichever worker holds the job
// now; the report of the holder is accepted.
func TestLateOutcomesAreRefused(t *testing.T) {
	const zombie = "zombie"
	lost := []struct {
		name, holder string
		statements   []string
	}{
		{"swept, then claimed by another", "other", []string{
			"update graphile_worker._private_jobs set locked_at = locked_at - interval '5 hours'",
			"update graphile_worker._private_job_queues set locked_at = locked_at - interval '5 hours'",
			"select graphile_worker.reset_stale_locks()",
		}},
		{"freed by force, then claimed by the same", zombie, []string{
			"select graphile_worker.force_unlock_workers(array['zombie'])",
		}},
		{"returned, then claimed by the same", zombie, []string{
			"select graphile_worker.return_job('zombie', id) from graphile_worker.jobs",
		}},
		{"returned, replaced, then claimed by the same", zombie, []string{
			"select graphile_worker.return_job('zombie', id) from graphile_worker.jobs",
			"select graphile_worker.add_job('task', job_key => 'key', queue_name => 'queue')",
		}},
		{"failed, rescheduled, then claimed by the same", zombie, []string{
			"select graphile_worker.fail_job('zombie', id, 'test') from graphile_worker.jobs",
			"select graphile_worker.reschedule_jobs(array[id], run_at => now(), attempts => 0) from graphile_worker.jobs",
		}},
	}
	outcomes := []struct{ name, sql string }{
		{"complete_job", "select graphile_worker.complete_job($1, $2, $3)"},
		{"complete_job_batch", "select exists (select from graphile_worker.complete_job_batch($1, array[$2::bigint], array[$3::bigint]))"},
		{"_gw_complete_claim", "select coalesce(cardinality(graphile_worker._gw_complete_claim($1, array[$2::bigint], $3)), 1) > 0"},
		{"fail_job", "select exists (select from graphile_worker.fail_job($1, $2, 'late', $3))"},
		{"fail_job_batch", "select exists (select from graphile_worker.fail_job_batch($1, json_build_array(json_build_object('id', $2::bigint, 'lease', $3::bigint))))"},
		{"return_job", "select exists (select from graphile_worker.return_job($1, $2, $3))"},
		{"return_job_batch", "select exists (select from graphile_worker.return_job_batch($1, array[$2::bigint], array[$3::bigint]))"},
	}
	db := newDatabase(t)
	a, b := db.session(), db.session()
	for _, way := range lost {
		for _, outcome := range outcomes {
			t.Run(way.name+", "+outcome.name, func(t *testing.T) {
				a, b := a.in(t), b.in(t)
				b.exec("select graphile_worker.add_job('task', job_key => 'key', queue_name => 'queue')")
				claim := a.claimOne(zombie)
				for _, statement := range way.statements {
					b.exec(statement)
				}
				next := b.claimOne(way.holder)
				if next.ID != claim.ID || next.Lease == claim.Lease {
					t.Fatalf("the second claim is %v, want job %d with another lease than %d", next, claim.ID,
						claim.Lease)
				}

				before := rowsOf(b)
				leases := []*int64{&claim.Lease}
				if way.holder != zombie {
					leases = append(leases, nil) // It needs no lease to be told from the holder.
				}
				for _, lease := range leases {
					if one[bool](a, outcome.sql, zombie, claim.ID, lease) {
						t.Errorf("the late outcome passed, its lease given: %t", lease != nil)
					}
				}
				if after := rowsOf(b); after != before {
					t.Errorf("the late outcome changed\n%s to\n%s", before, after)
				}
				if !one[bool](b, outcome.sql, way.holder, next.ID, next.Lease) {
					t.Error("the holder's outcome was refused")
				}
				if !one[bool](b, "select bool_and(is_available) from graphile_worker._private_job_queues") {
					t.Error("the holder's outcome did not free the queue")
				}
				b.exec("delete from graphile_worker._private_jobs")
			})
		}
	}
}

// A batch with valid and lost leases changes the jobs with valid leases, and returns them.
func TestBatchesActOnTheLeasesThatHold(t *testing.T) {
	for _, batch := range []string{
		"select id from graphile_worker.complete_job_batch('worker', $1, $2) as id",
		"select id from graphile_worker.fail_job_batch('worker', (select json_agg(json_build_object('id', u.id, 'lease', u.lease)) from unnest($1::bigint[], $2::bigint[]) as u (id, lease))) as id",
		"select id from graphile_worker.return_job_batch('worker', $1, $2, run_in => '1 hour') as id",
	} {
		t.Run(batch, func(t *testing.T) {
			s := newDatabase(t).session()
			s.exec("select graphile_worker.add_job('task') from generate_series(1, 3)")
			var ids, leases []int64
			for _, job := range s.claim("worker", 3) {
				ids, leases = append(ids, job.ID), append(leases, job.Lease)
			}
			s.exec("select graphile_worker.return_job('worker', $1)", ids[1])
			if again := s.claimOne("worker"); again.ID != ids[1] {
				t.Fatalf("the second claim is job %d, want %d", again.ID, ids[1])
			}
			touched := all[int64](s, batch, ids, leases)
			if len(touched) != 2 || touched[0]+touched[1] != ids[0]+ids[2] {
				t.Errorf("it acted on jobs %v, want %d and %d", touched, ids[0], ids[2])
			}
			if held := one[int64](s, "select id from graphile_worker.jobs where locked_by = 'worker'"); held != ids[1] {
				t.Errorf("job %d is still held, want %d", held, ids[1])
			}
		})
	}
}

// rowsOf returns everything that jobs and queues hold.
func rowsOf(s *session) string {
	s.t.Helper()
	return one[string](s, `
		select coalesce(string_agg(r.row, e'\n' order by r.row), '')
		  from (select j::text from graphile_worker._private_jobs as j
		         union all
		        select q::text from graphile_worker._private_job_queues as q) as r (row)`)
}
