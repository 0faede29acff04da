package shim

import (
	"context"
	"fmt"
	"time"

	"github.com/gwsql/gw/internal/seconds"
)

// QueueDepth is the number of jobs in each state.
type QueueDepth struct {
	Ready     int64 // due and not claimed; their named queue may be locked
	Scheduled int64 // due later
	Running   int64 // claimed, by any worker
	Failed    int64 // out of attempts; they stay until they are deleted or retried

	// OldestReady is how long the oldest ready job has been due, 0 if none is ready.
	OldestReady time.Duration

	// IsEstimate is set if there are too many jobs to count, so that the numbers come from a sample. A sample may miss
	// a few jobs among millions. OldestReady is never an estimate.
	IsEstimate bool
}

// QueueDepth counts the jobs in the queue. It takes some milliseconds, or tens of them if there are millions of jobs.
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
