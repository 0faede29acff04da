package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/gwsql/gw/internal/storable"
)

// maxProgressNote is the maximum length of the note of a progress, in characters.
const maxProgressNote = 1000

// SetProgress is [Job.Progress] for the job whose handler runs under ctx. Elsewhere it returns an error.
func SetProgress(ctx context.Context, percent float64, note string) error {
	job, ok := JobFromContext(ctx)
	if !ok {
		return errors.New("set progress: the context belongs to no job")
	}
	return job.Progress(percent, note)
}

// Progress says how far the job has come, for people who look at it by show_jobs(), gw-run show, gw-run why or the
// console: percent from 0 to 100, or -1 if it is unknown, and a note of up to 1000 characters, which may be empty. It
// may be called any number of times: it needs no statement of its own, because the worker sends the last progress of
// its jobs with its next heartbeat. So progress appears with a delay of up to the setting beat_every, and that of a job
// that ends earlier is never stored. The error says why the arguments are invalid.
func (j *Job) Progress(percent float64, note string) error {
	switch {
	case percent != -1 && !(percent >= 0 && percent <= 100):
		return fmt.Errorf("set progress of job %d: percent is %v; it must be between 0 and 100, or -1", j.ID, percent)
	case utf8.RuneCountInString(note) > maxProgressNote:
		return fmt.Errorf("set progress of job %d: the note has %d characters; the maximum is %d", j.ID,
			utf8.RuneCountInString(note), maxProgressNote)
	}
	if percent == -1 {
		percent = math.NaN()
	}
	if j.hold != nil {
		note = storable.In(j.encoding(), cleanMessage(note))
		if utf8.RuneCountInString(note) > maxProgressNote { // with escapes
			note = string([]rune(note)[:maxProgressNote])
		}
		j.hold.progress.Store(&progress{job: j.own(), percent: percent, note: note})
	}
	return nil
}

func takeProgress(jobs []*Job) (unsent []*progress) {
	for _, job := range jobs {
		if p := job.hold.progress.Swap(nil); p != nil {
			unsent = append(unsent, p)
		}
	}
	return unsent
}

// keepProgress keeps what could not be sent for the next heartbeat, unless there is newer progress.
func keepProgress(unsent []*progress) {
	for _, p := range unsent {
		p.job.hold.progress.CompareAndSwap(nil, p)
	}
}

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
