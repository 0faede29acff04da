package fuzz

import (
	"context"
	"fmt"
)

var someLimits = []limit{
	{name: "narrow", task: "a", most: 2},
	{name: "wide", task: "send", inQueues: true, most: 3},
}

// full is the event that as many jobs run as the limit allows.
func (l limit) full() string { return "the limit " + l.name + " is reached" }

// limit sets limits, which change neither the answers of add_job and add_jobs nor the columns of jobs, but how many jobs are claimed.
func (f *fuzz) limit(ctx context.Context, limits []limit) error {
	f.model.limits = limits
	for _, l := range limits {
		var queues, by text
		if l.inQueues {
			queues, by = textOf("*"), textOf("queue")
		}
		_, err := f.database.conn.Exec(ctx, "select graphile_worker.set_limit($1::text, array[$2::text], $3::text, $4::text, $5::integer)",
			l.name, l.task, queues, by, l.most)
		if err != nil {
			return fmt.Errorf("set the limit %s: %w", l.name, err)
		}
	}
	_, err := f.database.conn.Exec(ctx, `
		do $$
		begin
		  while exists (select from graphile_worker._gw_moves) loop
		    perform graphile_worker.get_job('nobody');
		    commit;
		  end loop;
		end $$`)
	return err
}

// checkLimits returns which limit is exceeded by the running jobs.
func (f *fuzz) checkLimits() error {
	for _, l := range f.model.limits {
		running := map[string]int{} // by queue
		for _, j := range f.model.jobs {
			if j.isLocked && j.identifier == l.task && j.queueName.Valid == l.inQueues {
				running[j.queueName.V]++
			}
		}
		for queue, count := range running {
			if count > l.most {
				return fmt.Errorf("%d jobs of the limit %s and queue %q run", count, l.name, queue)
			}
			if count == l.most {
				f.model.seen[l.full()]++
			}
		}
	}
	return nil
}
