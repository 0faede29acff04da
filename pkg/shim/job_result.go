package shim

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/gwsql/gw/internal/storable"
)

// TypedResult returns the handler that [HandleResult] registers, or nil if fn is nil. It is meant for tests of
// handlers.
func TypedResult[T, R any](fn func(ctx context.Context, payload T, job *Job) (R, error)) Handler {
	if fn == nil {
		return nil
	}
	return Typed(func(ctx context.Context, payload T, job *Job) error {
		result, err := fn(ctx, payload, job)
		if err != nil {
			return err
		}
		return job.SetResult(result)
	})
}

// SetResult sets the result of the job, in place of an earlier one: any value that [encoding/json] can encode. It is
// stored when the job completes, in the same statement, and only if it was asked for; see [HandleResult]. If it has
// more bytes than the setting max_result allows, which is 1 MB by default, an object {"gw_dropped": "..."} is stored in
// its place.
//
// Call it before the handler returns, and before [Job.CompleteTx]. An error means that the value cannot be encoded.
func (j *Job) SetResult(value any) error {
	text, err := encodePayload(value)
	if err != nil {
		return fmt.Errorf("set the result of job %d: %w", j.ID, err)
	}
	if text == nil {
		text = new("null")
	}
	stored := storable.JSON(j.encoding(), *text)
	if j.hold != nil {
		j.hold.result = stored
	} else {
		j.result = stored
	}
	return nil
}

// encoding returns the encoding of the worker's database; empty if it is not known.
func (j *Job) encoding() string {
	if j.worker == nil {
		return ""
	}
	encoding, _ := j.worker.encoding.Load().(string)
	return encoding
}

// Result returns what [Job.SetResult] has set, nil without. It is meant for middleware and for tests of handlers.
func (j *Job) Result() json.RawMessage {
	result := j.result
	if j.hold != nil {
		result = j.hold.result
	}
	if result == "" {
		return nil
	}
	return json.RawMessage(result)
}
