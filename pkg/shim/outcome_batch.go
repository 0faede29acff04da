package shim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/gwsql/gw/internal/guard"
)

// BatchError records, for each element of an array payload, whether it has completed. Create it with [Batch].
type BatchError struct {
	// Errs has an error at the position of each failed element, and nil for the others.
	Errs []error
}

// Batch returns an error with which the handler of an array payload fails its attempt for some of the elements. errs
// has one entry per element, nil for completed ones. The job is tried again with only the failed elements as its
// payload. If all entries are nil, Batch returns nil.
//
// The error may be wrapped, for example by [RetryIn], which sets the delay of the retry, or [Discard], which prevents
// it. The texts of the elements' errors are stored in last_error, one per line; their types are ignored. If errs does
// not have one entry per element, all elements are tried again.
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
			b.WriteString("\n" + guard.Text(err))
		}
	}
	return b.String()
}

// Remaining returns the failed elements of a payload, unchanged. It returns an error if the payload is not an array
// with as many elements as Errs, or if no element failed.
func (e *BatchError) Remaining(payload json.RawMessage) (json.RawMessage, error) {
	var elements []json.RawMessage
	if err := json.Unmarshal(payload, &elements); err != nil {
		return nil, fmt.Errorf("the payload of a batch is not an array: %w", err)
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

// ask does nothing. It prevents the requests of the elements' errors from being applied to the job.
func (e *BatchError) ask(*outcome) {}

// askForRest limits the retry to the elements that err reports as failed, if it is a BatchError.
func (o *outcome) askForRest(err error) {
	batch, ok := guard.As[*BatchError](err)
	if !ok || batch == nil {
		return
	}
	rest, err := batch.Remaining(o.job.Payload)
	if err != nil {
		o.message += fmt.Sprintf("\nThe whole payload is kept: %s.", err)
		return
	}
	o.payload = rest
}

func handleElement[T any](ctx context.Context, text json.RawMessage, job *Job,
	fn func(context.Context, T, *Job) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var element T
	if err := json.Unmarshal(text, &element); err != nil {
		return fmt.Errorf("decode element: %w", err)
	}
	return recovered(func() error { return fn(ctx, element, job) })
}
