package gotest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// expectedClaim is which jobs a claim takes, by the rule alone: the heads of free queues and the jobs without one, by order.
const expectedClaim = `
	with suiting as (
	  select j.id, j.priority, j.run_at, j.job_queue_id,
	         row_number() over (partition by j.job_queue_id order by j.priority, j.run_at, j.id) as place
	    from graphile_worker._private_jobs as j
	    left join graphile_worker._private_job_queues as q on q.id = j.job_queue_id
	    join graphile_worker._private_tasks as t on t.id = j.task_id
	   where j.is_available and (t.identifier = any ($2)) is not false and j.run_at <= now() and (j.flags ? 'barred') is not true and q.locked_at is null)
	select s.id
	  from suiting as s
	 where s.job_queue_id is null or s.place = 1
	 order by s.priority, s.run_at, s.id
	 limit $1`

const theirTasks = "select graphile_worker.add_job('task' || n) from generate_series(0, 3) as n"

// scatter fills the tables anew, by chance: few queues or many, some of them locked, long backlogs or short ones, with and
// without jobs in no queue.
func scatter(s *session, random *rand.Rand) string {
	s.t.Helper()
	queues, jobs := 1+random.IntN(60), random.IntN(1+random.IntN(200))
	if random.IntN(3) == 0 {
		queues = 1 + random.IntN(4)
	}
	plain, locked, priorities := random.Float64()*float64(random.IntN(2)), random.Float64(), 1+random.IntN(4)
	var behind int                                      // how much less urgent jobs without a queue are
	tasks, skew := 1+random.IntN(4), 1+6*random.IntN(2) // most jobs may be of the first one

	if random.IntN(4) == 0 { // one queue has most of a few jobs
		queues, jobs, plain, locked = 2+random.IntN(2), 6+random.IntN(11), 0, 0
	}
	if random.IntN(4) == 0 { // busy queues stand in front of jobs without one
		queues, jobs, plain, locked, behind = 5+random.IntN(50), 50+random.IntN(150), 0.2, 0.8, priorities
	}
	s.exec("delete from graphile_worker._private_jobs")
	s.exec("delete from graphile_worker._private_job_queues")
	s.exec("select setseed($1)", random.Float64())
	s.exec(`insert into graphile_worker._private_job_queues (queue_name, locked_at, locked_by)
	        select 'queue' || n, case when is_locked then now() end, case when is_locked then 'other' end
	          from (select n, random() < $2 as is_locked from generate_series(1, $1) as n) as q`, queues, locked)
	s.exec(`insert into graphile_worker._private_jobs (task_id, job_queue_id, priority, run_at, flags)
	        select (select t.id from graphile_worker._private_tasks as t where t.identifier = 'task' || n.task), q.id, floor(random() * $4) + case when q.id is null then $5 else 0 end,
	               now() + (random() - 0.9) * interval '1 hour', case when random() < 0.2 then '{"barred": true}'::jsonb end
	          from (select floor(random() ^ $7 * $6)::integer as task, case when random() >= $2 then 'queue' || 1 + floor(random() ^ 3 * $3)::integer end as queue
	                  from generate_series(1, $1)) as n
	          left join graphile_worker._private_job_queues as q on q.queue_name = n.queue`, jobs, plain, queues,
		priorities, behind, tasks, skew)
	return fmt.Sprintf("%d jobs of %d tasks, of which %.2f without a queue, in %d queues, of which %.2f are locked",
		jobs, tasks, plain, queues, locked)
}

// misclaims compares claims of several sizes with the rule, and returns what differs.
func misclaims(s *session, random *rand.Rand, tables int) (faults []string) {
	for range tables {
		state := scatter(s, random)
		tasks := [][]string{nil, {"task0"}, {"task2", "unknown", "task1"}}[random.IntN(3)]
		for _, size := range []int{1, 2, 10} {
			expected := all[int64](s, expectedClaim, size, tasks)
			s.exec("begin")
			claimed := all[int64](s, `
				select id from graphile_worker.get_job_batch('worker', $2, $1, forbidden_flags => array['barred'])`,
				size, tasks)
			s.exec("rollback")
			if !slices.Equal(claimed, expected) {
				faults = append(faults, fmt.Sprintf("%s: %d jobs of %v are %v, want %v", state, size, tasks, claimed,
					expected))
			}
		}
	}
	return faults
}

// Whichever way of searching named queues suffices, a claim takes the jobs that the rule names.
func TestAnyLookAtNamedQueuesFindsTheSameJobs(t *testing.T) {
	s := newDatabase(t).session()
	s.exec(theirTasks)
	seed := rand.Uint64()
	if faults := misclaims(s, rand.New(rand.NewPCG(seed, 0)), 30); len(faults) > 0 {
		t.Errorf("with the seed %d: %d faults, the first: %s", seed, len(faults), faults[0])
	}
}

func TestALookThatMissesJobsIsSeen(t *testing.T) {
	if testing.Short() {
		t.Skip("no version of PostgreSQL changes it")
	}
	const tasks, heads, front, lock = "_gw_queues_by_task", "_gw_free_heads", "_gw_front_queues", "_gw_lock_queues"
	for _, c := range pgtest.Mutants([]struct{ name, function, old, altered string }{
		{"the first queues, though the walk ended before it knew", front, "count(*) < claim.batch_size + 15", "true"},
		{"the first queues, though it met one again and again", heads, "least(f.jobs, claim.queue_batch)", "f.jobs"},
		{"queues of jobs that suit nobody", front, "filter (where w.suits)", ""},
		{"a few queues, of these the first", "_gw_claim_unlimited", ":= \"graphile_worker\"._gw_next_queues(17);",
			":= (\"graphile_worker\"._gw_next_queues(17))[1:1];"},
		{"queues, in front of any job", lock, "unnest(heads || plain)", "unnest(heads)"},
		{"of certain tasks, of one priority", tasks, "select (select min((select", "select (select max((select"},
		{"of certain tasks, of the first of them", tasks,
			"from unnest(claim.task_ids) as t (id)\n                  cross",
			"from unnest(claim.task_ids[1:1]) as t (id)\n                  cross"},
	}) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d := newDatabase(t)
			d.watcher.mutate(c.function, c.old, c.altered)
			s := d.session()
			s.exec(theirTasks)
			random := rand.New(rand.NewPCG(1, 2))
			for range 200 {
				if len(misclaims(s, random, 5)) > 0 {
					return
				}
			}
			t.Error("all claims were right")
		})
	}
}
