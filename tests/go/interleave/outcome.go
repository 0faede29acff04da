package interleave

import (
	"context"
	"fmt"
	"strings"
)

// An outcome is what the sessions of a world were answered, and what is in the tables when all are done.
type outcome struct {
	answers [][]string // by session and statement; the last is that of commit. A failure is "error SQLSTATE", and the last
	tables  string     // what finalTables reads
}

func (o outcome) String() string {
	var b strings.Builder
	for i, answers := range o.answers {
		fmt.Fprintf(&b, "session %d: %s\n", i+1, strings.Join(answers, "; "))
	}
	return b.String() + o.tables
}

// outcome returns what has come out of a run, in a form that does not depend on clocks.
func (d *driver) outcome(ctx context.Context) (o outcome, err error) {
	for _, s := range d.sessions {
		o.answers = append(o.answers, s.answers)
	}
	if o.tables, err = run(ctx, d.control, finalTables); err != nil {
		return o, fmt.Errorf("read the tables: %w", err)
	}
	return o, nil
}

// finalTables reads jobs by what they carry, for ids depend on the order of the calls, as the times do.
const finalTables = `
	select 'job ' || t.identifier, j.payload, q.queue_name, j.priority, j.attempts, j.max_attempts, j.key, j.revision, j.locked_by,
	       j.flags, j.last_error, j.run_at > now(), s.crashes, s.worker_id, s.strict, c.worker_id, c.reason
	  from graphile_worker._private_jobs as j
	  left join graphile_worker._private_tasks as t on t.id = j.task_id
	  left join graphile_worker._private_job_queues as q on q.id = j.job_queue_id
	  left join graphile_worker._gw_suspects as s on s.job_id = j.id and s.revision = j.revision
	  left join graphile_worker._gw_cancels as c on c.job_id = j.id
	 order by j.payload::text, j.id;
	select 'queue', q.queue_name, q.locked_by, q.locked_at is not null
	  from graphile_worker._private_job_queues as q
	 order by q.queue_name;
	select 'worker', w.id, w.recovered_at is not null
	  from graphile_worker._gw_workers as w
	 order by w.id`
