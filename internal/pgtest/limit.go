package pgtest

import (
	"context"
	"fmt"
)

// Limit is how many jobs of a task run at once: of those without a queue, or of those in each queue.
type Limit struct {
	Name, Task string
	InQueues   bool
	Most       int
}

// SetLimits sets limits, and moves the jobs to which they apply.
func SetLimits(ctx context.Context, s Session, limits ...Limit) error {
	for _, l := range limits {
		applies := "max_running => $3::integer"
		if l.InQueues {
			applies = "queues => '*', by => 'queue', " + applies
		}
		_, err := s.Exec(ctx, "select graphile_worker.set_limit($1::text, array[$2::text], "+applies+")", l.Name, l.Task, l.Most)
		if err != nil {
			return fmt.Errorf("set the limit %s: %w", l.Name, err)
		}
	}
	_, err := s.Exec(ctx, `
		do $$
		begin
		  while exists (select from graphile_worker._gw_moves) loop
		    perform graphile_worker.get_job('nobody');
		    commit;
		  end loop;
		end $$`)
	return err
}
