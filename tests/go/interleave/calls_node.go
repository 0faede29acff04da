package interleave

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
