package shim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/gwsql/gw/internal/storable"
)

// maxProgressNote is the maximum length of the note of a progress, in characters.
const maxProgressNote = 1000

// errNoJob is returned by SetProgress outside of handlers.
var errNoJob = errors.New("the context belongs to no job")

// SetProgress is [Job.Progress] for the job whose handler runs under ctx. Elsewhere it returns an error.
func SetProgress(ctx context.Context, percent float64, note string) error {
	job, ok := JobFromContext(ctx)
	if !ok {
		return fmt.Errorf("set progress: %w", errNoJob)
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
		j.hold.extras().progress.Store(&progress{job: j.own(), percent: percent, note: note})
	}
	return nil
}

// takeProgress returns the progress of these jobs that was not sent yet.
func takeProgress(jobs []*Job) (unsent []*progress) {
	for _, job := range jobs {
		if more := job.hold.more.Load(); more != nil {
			if p := more.progress.Swap(nil); p != nil {
				unsent = append(unsent, p)
			}
		}
	}
	return unsent
}

// keepProgress keeps what could not be sent for the next heartbeat, unless there is newer progress.
func keepProgress(unsent []*progress) {
	for _, p := range unsent {
		p.job.hold.extras().progress.CompareAndSwap(nil, p)
	}
}
