package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/gwsql/gw/internal/rows"
)

// The errors of [Wait] and [AddAndWait], with [*JobFailedError].
var (
	// ErrNoResult is matched by the error of [Wait] and [AddAndWait] for a job that completed without a result: its
	// worker reported none, or nobody had asked for it before the end of the job, so that it is not even known whether
	// it completed or was removed.
	ErrNoResult = errors.New("the job has no result")

	// ErrJobRemoved is matched by the error of [Wait] and [AddAndWait] for a job that was removed.
	ErrJobRemoved = errors.New("the job was removed")
)

// Wait waits until a job has ended, as [Client.Wait] does, and returns its result, decoded into a T. A T of
// json.RawMessage is the JSON itself. The result must have been asked for, by [Client.ExpectResult] or by a task that
// keeps results; see [Client.KeepTask].
//
// Errors are those of [Client.Wait], such as a [*JobFailedError], and those that match [ErrNoResult] and
// [ErrJobRemoved].
func Wait[T any](ctx context.Context, c *Client, id int64) (result T, err error) {
	end, err := c.wait(ctx, id)
	switch {
	case err != nil:
		return result, err
	case end.state == "permanently_failed":
		return result, c.failure(ctx, id, end)
	case end.state == "removed" && end.result == nil:
		return result, fmt.Errorf("wait for job %d: %w", id, ErrJobRemoved)
	case end.result == nil:
		return result, fmt.Errorf("wait for job %d: %w", id, ErrNoResult)
	}
	if err := json.Unmarshal([]byte(*end.result), &result); err != nil {
		return result, fmt.Errorf("decode the result of job %d: %w", id, err)
	}
	return result, nil
}

// AddAndWait adds a job as [Client.Add] does, asks for its result in the same statement, and waits for it as [Wait]
// does. opts may be nil.
// If ctx ends first, the job runs nevertheless.
func AddAndWait[T any](ctx context.Context, c *Client, task string, payload any,
	opts *AddOptions) (result T, err error) {
	var expecting AddOptions
	if opts != nil {
		expecting = *opts
	}
	expecting.expectResult = true
	job, err := c.Add(ctx, task, payload, &expecting)
	if err != nil {
		return result, err
	}
	return Wait[T](ctx, c, job.ID)
}

// ExpectResult asks for the end and the result of a job, to be read by [Wait] for the time keptFor. Call it in the
// transaction that adds the job, with [Client.With], so that the job cannot end before.
func (c *Client) ExpectResult(ctx context.Context, id int64, keptFor time.Duration) error {
	err := c.order(ctx, `select S.expect_result($1::bigint, `+rows.Microseconds("$2")+`)::text`, id,
		keptFor.Microseconds())
	return during(err, "expect the result of job %d", id)
}
