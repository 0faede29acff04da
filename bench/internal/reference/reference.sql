-- The yardstick: what a program would send that does by hand, in prepared statements, what get_job_batch and
-- complete_job_batch do for jobs without a queue: the same tables, the same columns, the same order. It knows the ids of
-- its tasks beforehand, refuses no wrong argument and checks no lease.
--
-- schema is the schema, quoted; n is the batch size, a literal, for the planner is to know it.

-- name: claim
-- $1: worker id, $2: task ids. By ctid, which is faster than a join by id and needs no estimate.
with claimed as (
  update {{.schema}}._private_jobs as j
     set attempts = j.attempts + 1, locked_by = $1::text, locked_at = clock_timestamp()
   where j.ctid = any (array(
           select p.ctid
             from {{.schema}}._private_jobs as p
            where p.is_available
              and p.run_at <= now()
              and p.job_queue_id is null
              and p.task_id = any ($2::integer[])
            order by p.priority, p.run_at, p.id
            limit {{.n}}
              for update skip locked))
  returning j.*
)
select c.id, t.identifier as task_identifier, c.payload, null::text as queue_name, c.priority, c.run_at, c.attempts,
       c.max_attempts, c.key, c.flags, (extract(epoch from c.locked_at) * 1000000)::bigint as lease, c.created_at,
       c.last_error, c.revision
  from claimed as c
  join {{.schema}}._private_tasks as t on t.id = c.task_id
 order by c.priority, c.run_at, c.id

-- name: complete
-- $1: job ids.
delete from {{.schema}}._private_jobs as j
 where j.id = any ($1::bigint[])
