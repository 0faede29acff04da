package shim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// BatchError says of each element of a payload that is an array whether it is done. Make it with [Batch].
type BatchError struct {
	// Errs has an error for each element that failed, at its place, and nil for the others.
	Errs []error
}

// Batch returns an error by which the handler of a payload that is an array fails its attempt for some of the elements:
// errs has one error for each, nil for those that are done. The job is tried again with the failed ones alone as its
// payload. If all are nil it returns nil.
//
// Wrapped into other errors it means the same, above all in [RetryIn] and [Discard]: these say when the rest is tried
// again, or not at all. What the errors of the elements are is written into last_error, a line for each, and is not
// looked at otherwise. If errs has not one place for each element, all of them are tried again.
func Batch(errs []error) error {
	if errors.Join(errs...) == nil {
		return nil
	}
	return &BatchError{Errs: errs}
}

func (e *BatchError) Error() string {
	var b strings.Builder
	b.WriteString("Batch failures:")
	for _, err := range e.Errs {
		if err != nil {
			b.WriteString("\n" + err.Error())
		}
	}
	return b.String()
}

// Remaining returns the failed elements of a payload, as they stand there. It is an error if the payload is no array with
// as many elements as there are Errs, or if none of them failed.
func (e *BatchError) Remaining(payload json.RawMessage) (json.RawMessage, error) {
	var elements []json.RawMessage
	if err := json.Unmarshal(payload, &elements); err != nil {
		return nil, fmt.Errorf("a batch needs a payload that is an array: %w", err)
	}
	if len(elements) != len(e.Errs) {
		return nil, fmt.Errorf("there are %d errors for %d elements", len(e.Errs), len(elements))
	}
	var failed [][]byte
	for i, err := range e.Errs {
		if err != nil {
			failed = append(failed, elements[i])
		}
	}
	if len(failed) == 0 {
		return nil, errors.New("no element failed")
	}
	return json.RawMessage("[" + string(bytes.Join(failed, []byte(","))) + "]"), nil
}

// ask does nothing, but keeps what the elements' errors ask for from being taken for the job's.
func (e *BatchError) ask(*outcome) {}

// askForRest has only the elements tried again that err says failed, if it says so.
func (o *outcome) askForRest(err error) {
	batch, ok := errors.AsType[*BatchError](err)
	if !ok {
		return
	}
	rest, err := batch.Remaining(o.job.Payload)
	if err != nil {
		o.message += fmt.Sprintf("\nThe whole payload is kept: %s.", err)
		return
	}
	o.payload = rest
}

// HandleEach registers fn for a task whose payloads are arrays of T: it is called for one element after the other, and
// those for which it returns an error are tried again, as [Batch] says. A panic is such an error. When the context has
// ended, fn is not called any more, and what it was not called for has failed. Like [Worker.Handle] it must
// be called before the worker runs.
func HandleEach[T any](w *Worker, task string, fn func(ctx context.Context, element T, job *Job) error, options ...TaskOption) {
	if fn == nil {
		w.Handle(task, nil, options...)
		return
	}
	w.Handle(task, func(ctx context.Context, job *Job) error {
		var elements []json.RawMessage
		if err := json.Unmarshal(job.Payload, &elements); err != nil {
			return fmt.Errorf("decode payload: %w", err)
		}
		errs := make([]error, len(elements))
		for i, text := range elements {
			errs[i] = handleElement(ctx, text, job, fn)
		}
		return Batch(errs)
	}, options...)
}

func handleElement[T any](ctx context.Context, text json.RawMessage, job *Job, fn func(context.Context, T, *Job) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var element T
	if err := json.Unmarshal(text, &element); err != nil {
		return fmt.Errorf("decode element: %w", err)
	}
	return recovered(func() error { return fn(ctx, element, job) })
}
