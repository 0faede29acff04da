package shim_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// left returns the payload and the last error of the only job that is left.
func left(q *queue) (payload, lastError string) {
	q.t.Helper()
	return value[string](q, `select payload::text from graphile_worker._private_jobs`),
		value[string](q, `select last_error from graphile_worker._private_jobs`)
}

func TestOfABatchOnlyWhatFailedIsTriedAgain(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	var calls []int
	shim.HandleEach(w.Worker, "each", func(_ context.Context, n int, _ *shim.Job) error {
		if calls = append(calls, n); n%2 == 0 && len(calls) <= 4 {
			return shim.Discard(fmt.Errorf("%d is even", n)) // what elements ask for counts for none
		}
		return nil
	}, shim.Backoff(func(int) time.Duration { return 0 }))
	q.exec(`select graphile_worker.add_job('each', '[1, 2, 3, 4]', max_attempts => 2)`)
	runOnce(t, w)
	if !slices.Equal(calls, []int{1, 2, 3, 4, 2, 4}) || q.jobs() != 0 {
		t.Errorf("called with %v, %d jobs are left", calls, q.jobs())
	}
}

func TestWhatIsLeftOfABatchIsKeptAsItWas(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	shim.Handle(w.Worker, "batch", func(_ context.Context, payload []any, _ *shim.Job) error {
		errs := make([]error, len(payload))
		errs[1], errs[2] = errors.New("no such host"), errors.New("no such customer")
		return fmt.Errorf("send: %w", shim.RetryIn(time.Hour, shim.Batch(errs)))
	})
	q.exec(`select graphile_worker.add_job('batch', $1::text::json)`,
		`[1, {"b": "<&>", "a": 1.50, "a": 12345678901234567890}, [ ], 4]`)
	runOnce(t, w)
	payload, lastError := left(q)
	if payload != `[{"b":"<&>","a":1.50,"a":12345678901234567890},[]]` {
		t.Errorf("payload is %s", payload)
	}
	if lastError != "send: Batch failures:\nno such host\nno such customer" {
		t.Errorf("last error is %q", lastError)
	}
	if !value[bool](q, `select run_at > now() + interval '59 minutes' and attempts = 1 from graphile_worker.jobs`) {
		t.Error("the delay or the attempt does not count")
	}
}

func TestABatchWhoseErrorsDoNotFitIsTriedAgainWhole(t *testing.T) {
	for name, c := range map[string]struct {
		payload string
		err     error
		want    string
	}{
		"too few": {`[1,2]`, shim.Batch([]error{errors.New("a")}),
			"Batch failures:\na\nThe whole payload is kept: there are 1 errors for 2 elements."},
		"no array": {`{"a":1}`, shim.Batch([]error{errors.New("a")}),
			"Batch failures:\na\nThe whole payload is kept: the payload of a batch is not an array: json: cannot unmarshal object into Go value of type []json.RawMessage."},
		"no error": {`[1]`, &shim.BatchError{Errs: make([]error, 1)},
			"Batch failures:\nThe whole payload is kept: no element failed."},
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			w := q.worker(shim.Config{})
			w.Handle("batch", func(context.Context, *shim.Job) error { return c.err })
			q.exec(`select graphile_worker.add_job('batch', $1::text::json)`, c.payload)
			runOnce(t, w)
			if payload, lastError := left(q); payload != c.payload || lastError != c.want {
				t.Errorf("payload is %s, last error is %q", payload, lastError)
			}
		})
	}
}

func TestABatchWithoutErrorsIsDone(t *testing.T) {
	if err := shim.Batch(make([]error, 3)); err != nil {
		t.Error(err)
	}
	if err := shim.Batch(nil); err != nil {
		t.Error(err)
	}
}

func TestAnElementMayPanicOrNotFit(t *testing.T) {
	q := newQueue(t)
	w := q.worker(shim.Config{})
	var done []int
	shim.HandleEach(w.Worker, "each", func(_ context.Context, n int, _ *shim.Job) error {
		if n == 2 {
			panic("spilled")
		}
		done = append(done, n)
		return nil
	})
	shim.HandleEach(w.Worker, "none", func(context.Context, int, *shim.Job) error { return nil })
	q.exec(`select graphile_worker.add_job('each', '[1, 2, "3", 4]')`)
	runOnce(t, w)
	payload, lastError := left(q)
	if payload != `[2,"3"]` || !slices.Equal(done, []int{1, 4}) {
		t.Errorf("payload is %s, done are %v", payload, done)
	}
	if want := "Batch failures:\npanic: spilled\n"; lastError[:len(want)] != want {
		t.Errorf("last error is %q", lastError)
	}

	q.exec(`delete from graphile_worker._private_jobs; select graphile_worker.add_job('none', '{}')`)
	runOnce(t, w)
	if payload, _ := left(q); payload != "{}" {
		t.Errorf("payload is %s", payload)
	}
}

// Completed elements must not be repeated, so the attempt counts; the other elements are tried again at once.
func TestOfAnInterruptedBatchTheRestIsTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		maxAttempts int
		payload     string
		attempts    int
	}{
		"with attempts left": {2, `[2,3]`, 1},
		"at the last":        {1, `[1,2,3]`, 0}, // a shutdown makes no job fail permanently
	} {
		t.Run(name, func(t *testing.T) {
			q := newQueue(t)
			w := q.worker(shim.Config{Grace: -1})
			running := make(chan struct{})
			shim.HandleEach(w.Worker, "each", func(ctx context.Context, n int, _ *shim.Job) error {
				if n == 1 {
					return nil
				}
				close(running)
				<-ctx.Done()
				return ctx.Err()
			})
			q.exec(`select graphile_worker.add_job('each', '[1,2,3]', max_attempts => $1)`, c.maxAttempts)
			w.start()
			receive(t, running)
			w.Kill()
			if err := w.wait(); !errors.Is(err, shim.ErrInterrupted) {
				t.Errorf("Run returned %v", err)
			}
			if got := value[string](q, `select payload::text from graphile_worker._private_jobs`); got != c.payload {
				t.Errorf("payload is %s, want %s", got, c.payload)
			}
			if !value[bool](q, `select attempts = $1 and run_at <= now() and is_available from graphile_worker._private_jobs`, c.attempts) {
				t.Error("the job does not wait to go on")
			}
		})
	}
}

func TestRemainingAreTheFailedElements(t *testing.T) {
	batch := &shim.BatchError{Errs: []error{nil, errors.New("b"), nil}}
	rest, err := batch.Remaining(json.RawMessage(`[1, "two", 3]`))
	if err != nil || string(rest) != `["two"]` {
		t.Errorf("remaining are %s, %v", rest, err)
	}
}
