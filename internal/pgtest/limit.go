package pgtest

import (
	"context"
	"fmt"
)

// Limit is how many jobs of a task run at once.
type Limit struct {
	Name, Task string
	Most       int
}

// SetLimits sets limits.
func SetLimits(ctx context.Context, s Session, limits ...Limit) error {
	for _, l := range limits {
		_, err := s.Exec(ctx, "select graphile_worker.set_limit($1::text, array[$2::text], max_running => $3::integer)",
			l.Name, l.Task, l.Most)
		if err != nil {
			return fmt.Errorf("set the limit %s: %w", l.Name, err)
		}
	}
	return nil
}
