package interleave

// newYear is a time in the past; runs of recurring jobs begin at that of 2026.
const (
	newYear     = 1577836800 * second
	newYear2026 = 1767225600 * second
)

// held names jobs that w0 may hold.
func held(ids ...int64) holder { return holder{worker: "w0", ids: ids} }

// byLease names them by the lease with which a world begins.
func byLease(ids ...int64) holder {
	h := held(ids...)
	for range ids {
		h.leases = append(h.leases, worldLease)
	}
	return h
}

var (
	noAttempts = 0
	first      = []int64{1}
	both       = []int64{1, 2}
)

// calls are what the sessions of pairs do. Their answers have no times and no ids that depend on the order.
var calls = []call{
	called("replace", addJob{task: "a", payload: `{"n": 2}`, key: "k", runAt: newYear}),
	called("replace in queue", addJob{task: "a", payload: `{"n": 3}`, key: "k", runAt: newYear, queue: "q"}),
	called("preserve", addJob{task: "a", payload: `{"n": 4}`, key: "k", runAt: newYear, mode: "preserve_run_at"}),
	called("dedupe", addJob{task: "a", payload: `{"n": 5}`, key: "k", runAt: newYear, mode: "unsafe_dedupe"}),
	called("add queue", addJob{task: "a", payload: `{"n": 6}`, runAt: newYear, queue: "q"}),
	called("add first", addJob{task: "a", payload: `{"n": 9}`, runAt: newYear, queue: "q", priority: -1}),
	called("add_jobs", addJobs{specs: []jobSpec{
		{task: "a", payload: `{"n": 7}`, key: "k", runAt: newYear},
		{task: "b", payload: `{"n": 8}`, key: "l", runAt: newYear, queue: "q"},
	}}),
	called("remove", removeJob{"k"}),
	called("once", once{task: "a", payload: `{"n": 14}`, key: "k", runAt: newYear}),
	called("debounce", debounce{jobSpec{task: "a", payload: `{"n": 15}`, key: "k"}, true}),
	called("throttle", throttle{task: "a", payload: `{"n": 16}`, key: "k"}),
	called("get_job", getJob{claimer{worker: "w1"}}),
	called("get_job_batch", getJobBatch{claimer{worker: "w2", tasks: []string{"a"}}, 5, 0}),
	called("streak", getJobBatch{claimer{worker: "w4"}, 5, 3}),
	called("late batch", getJobBatch{claimer{worker: "w2", now: newYear2026 + 74*365*24*hour}, 2, 0}),
	called("get_job_alone", getJobAlone{claimer: claimer{worker: "w3", tasks: []string{"a"}}}),
	called("complete", complete{held(1), true}),
	called("complete by lease", complete{byLease(1), true}),
	called("fail", fail{holder: held(1), single: true, message: "broken"}),
	called("return", giveBack{holder: held(1), single: true}),
	called("complete batch", complete{held(both...), false}),
	called("fail batch", fail{holder: byLease(both...), message: "broken"}),
	called("return batch", giveBack{holder: byLease(both...)}),
	called("renew", renew{byLease(first...), 0}),
	called("step", saveStep{byLease(first...), "s", "1"}),
	called("same step", saveStep{held(1), "s", "2"}),
	called("step elsewhere", saveStep{holder{worker: "w1", ids: first}, "s", "3"}),
	called("beat", heartbeat{byLease(first...)}),
	called("heartbeat", heartbeat{holder{worker: "w9", leases: []moment{}}}),
	called("admin complete", completeJobs{both}),
	called("admin fail", failJobs{both, "gone"}),
	called("cancel", cancelJobs{both, "no"}),
	called("reschedule", reschedule{ids: both, runAt: newYear, attempts: &noAttempts}),
	called("retry", retryJobs{both}),
	called("unlock", unlockWorkers{[]string{"w0"}}),
	called("sweep", stale{}),
	called("tidy", tidy{}),
	called("cleanup", cleanup{}),
	called("run_cron", runCron{
		items: []schedule{{Identifier: "i", Task: "a", Pattern: "* * * * *", Key: "k", Queue: "q"}},
		since: newYear2026 - minute, now: newYear2026,
	}),
	called("tick", runCron{since: newYear2026 - minute, now: newYear2026}),
	called("schedule", cronSchedule{identifier: "s", pattern: "*/5 * * * *", task: "a", key: "k"}),
	called("unschedule", cronUnschedule{"s"}),
	{name: "node complete", sql: `with j as (delete from graphile_worker._private_jobs where id = 1 returning job_queue_id) update graphile_worker._private_job_queues as q set locked_by = null, locked_at = null from j where q.id = j.job_queue_id and q.locked_by = 'w0'`},
}

// nodeCalls are the statements that Graphile Worker's Node worker sends: it calls no functions, and writes to the
// tables. The model does not contain them.
var nodeCalls = []call{
	{name: "node claim", sql: `
		with j as (
		  select jobs.job_queue_id, jobs.id
		    from graphile_worker._private_jobs as jobs
		   where jobs.is_available = true and jobs.run_at <= now()
		     and jobs.task_id = any (array(select t.id from graphile_worker._private_tasks as t where t.identifier = 'a'))
		     and (jobs.job_queue_id is null
		          or jobs.job_queue_id in (select q.id
		                                     from graphile_worker._private_job_queues as q
		                                    where q.is_available = true
		                                      for update skip locked))
		   order by jobs.priority asc, jobs.run_at asc
		   limit 1
		     for update skip locked
		), q as (
		  update graphile_worker._private_job_queues as queues
		     set locked_by = 'pool-1', locked_at = now()
		    from j
		   where queues.id = j.job_queue_id
		)
		update graphile_worker._private_jobs as jobs
		   set attempts = jobs.attempts + 1, locked_by = 'pool-1', locked_at = now()
		  from j
		 where jobs.id = j.id
		returning jobs.payload, jobs.attempts`},
	{name: "node fail", sql: `
		with j as (
		  update graphile_worker._private_jobs
		     set last_error = 'broken', run_at = greatest(now(), run_at) + interval '1 hour', locked_by = null, locked_at = null
		   where id = 1 and locked_by = 'w0'
		  returning job_queue_id
		)
		update graphile_worker._private_job_queues as q
		   set locked_by = null, locked_at = null
		  from j
		 where q.id = j.job_queue_id and q.locked_by = 'w0'`},
}
