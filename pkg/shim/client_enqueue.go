package shim

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// enqueuedSpec is a spec with its key mode.
type enqueuedSpec struct {
	sentSpec
	Mode JobKeyMode `json:"mode"`
}

// enqueue adds jobs in a schema for roles by one statement. It returns them with only their ids, and the names that
// the caller gave. In the schema of a queue it adds and returns no jobs. sent are the specs in their wire form.
func (c *Client) enqueue(ctx context.Context, specs []JobSpec, sent []sentSpec) ([]*JobInfo, error) {
	enqueued := make([]enqueuedSpec, len(specs))
	for i, spec := range specs {
		enqueued[i] = enqueuedSpec{sent[i], cmp.Or(spec.JobKeyMode, Replace)}
	}
	list, err := json.Marshal(enqueued)
	if err != nil {
		return nil, fmt.Errorf("encode specs: %w", err)
	}
	var jobs []*JobInfo
	err = c.each(ctx, func(scan func(...any) error) error {
		job := &JobInfo{}
		if spec := specs[len(jobs)]; spec.JobKeyMode != UnsafeDedupe ||
			spec.JobKey == "" { // otherwise the job may be any that has the key
			job.TaskIdentifier, job.QueueName = spec.Task, spec.QueueName
		}
		jobs = append(jobs, job)
		return scan(&job.ID)
	}, `select r.id from S._gw_enqueue_jobs($1::json) with ordinality as r (id, number)`+expecting(specs[0].AddOptions)+
		` order by r.number`, string(list))
	if errors.Is(err, ErrNotGranted) {
		return nil, fmt.Errorf("%w; gw-migrate grants --producer lets a role enqueue jobs", err)
	}
	if err != nil {
		return nil, err
	}
	c.isQueue.Store(len(jobs) == 0)
	return jobs, nil
}

// enqueueOne adds one job as enqueue does. In the schema of a queue it returns nil.
func (c *Client) enqueueOne(ctx context.Context, task string, payload *string, opts AddOptions) (*JobInfo, error) {
	spec := JobSpec{Task: task, AddOptions: opts}
	if payload != nil {
		spec.Payload = json.RawMessage(*payload)
	}
	sent, err := c.sent(spec, time.Now())
	if err != nil {
		return nil, err
	}
	jobs, err := c.enqueue(ctx, []JobSpec{spec}, []sentSpec{sent})
	if err != nil || len(jobs) == 0 {
		return nil, err
	}
	return jobs[0], nil
}
