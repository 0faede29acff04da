package history

import (
	"context"
	"fmt"
	"strconv"
)

const (
	waiting = "select j.id from graphile_worker._private_jobs as j where j.is_available order by j.id"

	allJobs = "select j.id, j.revision, j.is_available, j.locked_at is not null from graphile_worker._private_jobs as j"

	lockedQueues = "select q.queue_name from graphile_worker._private_job_queues as q where q.locked_at is not null"
)

// drain frees all leases and runs all waiting jobs, due or not, so that no job is left.
func (r *run) drain(ctx context.Context, s *session) error {
	freed := map[string]bool{}
	for _, worker := range r.dead {
		if freed[worker] {
			continue
		}
		freed[worker] = true
		if err := s.act(ctx, &event{kind: unlock, worker: worker}, statement{unlockAll, []any{worker}}); err != nil {
			return err
		}
	}
	c := &claimer{session: s, worker: "drain", known: map[lease]bool{}}
	for {
		rows, err := s.query(ctx, waiting)
		if err != nil || len(rows) == 0 {
			return err
		}
		ids := make([]int64, len(rows))
		for i, columns := range rows {
			if ids[i], err = strconv.ParseInt(string(columns[0]), 10, 64); err != nil {
				return err
			}
		}
		e := &event{kind: reschedule, ids: ids}
		if err := s.act(ctx, e, statement{rescheduleJobs, []any{ids, "0 seconds", nil, nil}}); err != nil {
			return err
		}
		for {
			e := &event{kind: claim, worker: c.worker, size: 1 + s.IntN(50), ofQueue: 1 + s.IntN(10)}
			rows, err := s.record(ctx, e, statement{getJobBatch, []any{c.worker, nil, nil, e.size, e.ofQueue}})
			if err != nil {
				return err
			}
			if err := c.take(e, rows); err != nil {
				return err
			}
			if len(rows) == 0 {
				break
			}
			if err := c.completeAll(ctx); err != nil {
				return err
			}
			ids = nil
		}
		if ids != nil {
			return nil // jobs wait, but no claim finds them: the check of the tables reports that
		}
	}
}

// completeAll completes all jobs that are held.
func (c *claimer) completeAll(ctx context.Context) error {
	e := &event{kind: complete, worker: c.worker, leases: c.held}
	c.held = nil
	ids, leases := make([]int64, len(e.leases)), make([]int64, len(e.leases))
	for i, l := range e.leases {
		ids[i], leases[i] = l.job, int64(l.at)
	}
	rows, err := c.record(ctx, e, statement{outcomes[complete][1], []any{c.worker, ids, leases}})
	for _, columns := range rows {
		id, err := strconv.ParseInt(string(columns[0]), 10, 64)
		if err != nil {
			return fmt.Errorf("read the answer of %s: %w", e, err)
		}
		e.touched = append(e.touched, id)
	}
	return err
}

// last returns the content of the tables.
func (r *run) last(ctx context.Context, s *session) (final, error) {
	var end final
	rows, err := s.query(ctx, allJobs)
	if err != nil {
		return end, err
	}
	for _, columns := range rows {
		id, err := strconv.ParseInt(string(columns[0]), 10, 64)
		if err != nil {
			return end, err
		}
		revision, err := strconv.Atoi(string(columns[1]))
		if err != nil {
			return end, err
		}
		end.jobs = append(end.jobs, finalJob{id, revision, string(columns[2]) == "t", string(columns[3]) == "t"})
	}
	rows, err = s.query(ctx, lockedQueues)
	for _, columns := range rows {
		end.lockedQueues = append(end.lockedQueues, string(columns[0]))
	}
	return end, err
}
