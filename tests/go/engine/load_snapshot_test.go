package engine

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
)

// unnamed are the lanes with waiting jobs that nothing names: who looks for work would not find them. A lane of another
// generation is found by its generation.
const unnamed = `
	with present as (
	  select t.id as task_id,
	         coalesce((select hashtextextended(string_agg(l.id || ' ' || l.generation, ',' order by l.id), 0)
	                     from gw._gw_limits as l where l.tasks is null or t.identifier = any (l.tasks)), 0) as generation
	    from gw._private_tasks as t
	)
	select format('job %s waits in the lane %s (gate %s), which nothing names', j.id, j.job_queue_id, l.gate)
	  from gw._private_jobs as j
	  left join gw._gw_lanes as l on l.id = j.job_queue_id
	  left join present as p on p.task_id = j.task_id
	 where j.is_available and j.job_queue_id <= -16
	   and (l.id is null
	        or l.gate = 0 and l.generation = p.generation
	        or l.gate > 0 and l.generation = p.generation
	           and not exists (select from gw._gw_gate_ends as e where e.gate_id = l.gate)
	           and not exists (select from gw._private_jobs as r left join gw._gw_queued_lanes as q on q.job_id = r.id and r.job_queue_id > 0
	                             join gw._gw_lanes as n on n.id = coalesce(q.lane_id, r.job_queue_id)
	                            where r.locked_at is not null and l.gate = any (n.gates))
	           and not exists (select from gw._gw_gates as g join gw._gw_limits as i on i.id = g.limit_id
	                             join gw._gw_pauses as s on s.limit_name = i.name and (s.key is null or s.key = g.key)
	                            where g.id = l.gate))
	 limit 3`

// snapshot looks for jobs that are forgotten, in what is committed at one moment.
func (l *load) snapshot(ctx context.Context, conn *pgx.Conn, r *rand.Rand) error {
	time.Sleep(time.Duration(20+r.IntN(20)) * time.Millisecond)
	rows, err := conn.Query(ctx, schema(unnamed))
	if err != nil {
		return err
	}
	texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	for _, text := range texts {
		l.find("%s", text)
	}
	return nil
}
