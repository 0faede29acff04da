package shim

import (
	"context"
	"time"

	"github.com/gwsql/gw/internal/rows"
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
	depth, err := firstRow(ctx, c, func(d *QueueDepth) []any {
		return []any{&d.Ready, &d.Scheduled, &d.Running, &d.Failed, rows.Span(&d.OldestReady), &d.IsEstimate}
	}, `
		select d.ready, d.scheduled, d.running, d.failed, `+rows.SpanOf("d.oldest_ready")+`, d.is_estimate
		  from S.queue_depth() as d`)
	if err != nil {
		return QueueDepth{}, during(err, "count jobs")
	}
	return *depth, nil
}
