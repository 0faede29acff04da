package shim

import (
	"context"
	"fmt"
	"time"

	"github.com/gwsql/gw/internal/seconds"
)

// QueueDepth says how many jobs stand where.
type QueueDepth struct {
	Ready     int64 // due, and nobody runs them; their named queue may be busy
	Scheduled int64 // due later
	Running   int64 // claimed, by whatever worker
	Failed    int64 // out of attempts, kept until somebody acts

	// OldestReady is for how long the longest waiting of the ready jobs is due, 0 if none is.
	OldestReady time.Duration

	// IsEstimate says that there are too many jobs to count, so that a sample stands for all. It does not show a few jobs
	// among millions. OldestReady is never an estimate.
	IsEstimate bool
}

// QueueDepth counts the jobs in the queue. It costs some milliseconds, tens of them when there are millions of jobs.
func (c *Client) QueueDepth(ctx context.Context) (QueueDepth, error) {
	var (
		depth  QueueDepth
		oldest float64
	)
	err := c.each(ctx, func(scan func(...any) error) error {
		return scan(&depth.Ready, &depth.Scheduled, &depth.Running, &depth.Failed, &oldest, &depth.IsEstimate)
	}, `
		select d.ready, d.scheduled, d.running, d.failed,
		       coalesce(extract(epoch from d.oldest_ready), 0)::double precision, d.is_estimate
		  from S.queue_depth() as d`)
	if err != nil {
		return QueueDepth{}, fmt.Errorf("count jobs: %w", err)
	}
	depth.OldestReady = seconds.Duration(oldest)
	return depth, nil
}
