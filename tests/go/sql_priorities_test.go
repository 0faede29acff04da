package gotest

import (
	"fmt"
	"slices"
	"testing"
)

// addFuture adds a job that is due in an hour at each of so many priorities, from the most urgent on, each in the queue.
func (s *session) addFuture(priorities int, queue string) {
	s.t.Helper()
	s.exec(fmt.Sprintf(`
		select count(*) from graphile_worker.add_jobs(array(
		  select row('task', null, %s, now() + interval '1 hour', null, null, n - 32768, null)::graphile_worker.job_spec
		    from generate_series(0, %d) as n))`, queue, priorities-1))
}

// A role that may add jobs of one task may add them at 65 536 priorities. Claims step from priority to priority, up to a limit.
func TestJobsOfTheFutureAtManyPrioritiesHoldNoClaimUp(t *testing.T) {
	const claims = 50
	reads := make(map[int]int64)
	for _, priorities := range []int{1, 20000} {
		d := newDatabase(t)
		s := d.session()
		s.addFuture(priorities, "null")
		s.addMany(2*claims, "task", "null", 0)
		s.exec("vacuum analyze graphile_worker._private_jobs")
		for range claims {
			reads[priorities] += s.readsOf("select id from graphile_worker.get_job_batch('worker')")
		}
		for _, tasks := range []string{"", "'{task}'", "'{unknown}'"} {
			if n := s.readsOf("select graphile_worker.next_run_at(" + tasks + ")"); n > 10000 {
				t.Errorf("with %d priorities next_run_at(%s) reads %d entries and blocks", priorities, tasks, n)
			}
		}
	}
	t.Logf("reads: %v", reads)
	// A look from the beginning, and another one to put the cursor, each reads everything in front, now and again.
	if most := int64(claims/5) * 3 * 20000; reads[20000] > most {
		t.Errorf("%d claims read %d entries and blocks, want %d at most", claims, reads[20000], most)
	}
}

func TestWhatIsDueBehindManyPrioritiesIsClaimedInOrder(t *testing.T) {
	for _, queue := range []string{"null", "'q' || n", "'same'", "case when n % 2 = 0 then 'q' || n end"} {
		t.Run(queue, func(t *testing.T) {
			d := newDatabase(t)
			s := d.session()
			s.addFuture(1200, queue)
			s.exec("select graphile_worker.add_job('other', priority => -32768 + n, queue_name => 'other' || n) from generate_series(0, 600) as n")
			var want []int64
			for _, job := range []string{
				"priority => -32000", "priority => -31000, queue_name => 'a'", "priority => -30000",
				"priority => 5, queue_name => 'b'",
				"priority => 5, queue_name => 'b'", "priority => 6", "priority => 7, queue_name => 'same'",
			} {
				want = append(want, one[int64](s, "select id from graphile_worker.add_job('task', "+job+")"))
			}
			want = slices.Delete(want, 4, 5) // behind the one before in its queue
			for _, c := range []struct{ batch, claims int }{{10, 1}, {3, 2}, {1, 6}} {
				s.exec("begin")
				var got []int64
				for range c.claims {
					got = append(got, all[int64](s,
						fmt.Sprintf("select id from graphile_worker.get_job_batch('worker', '{task}', %d)",
							c.batch))...)
				}
				s.exec("rollback")
				if !slices.Equal(got, want) {
					t.Errorf("%d claims of %d brought %v, want %v", c.claims, c.batch, got, want)
				}
			}
		})
	}
}

// A job that waits at a priority which next_run_at does not reach is found by looking again.
func TestNextRunAtIsSoonWhereJobsWaitAtManyPriorities(t *testing.T) {
	d := newDatabase(t)
	s := d.session()
	s.addFuture(600, "null")
	const soon = `select graphile_worker.next_run_at() <= now() + interval '0.5 seconds'`
	if !one[bool](s, soon) {
		t.Error("next_run_at is later than half a second from now")
	}
	s.exec("update graphile_worker._private_jobs set attempts = max_attempts where priority > -32768 + 400")
	if one[bool](s, soon) {
		t.Error("next_run_at is soon where it has seen all priorities")
	}
}
