package shim

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/pkg/shim/internal/ration"
)

// entryOf returns a task with a handler of several jobs.
func entryOf(h ManyHandler) taskEntry { return taskEntry{call: h.call} }

// timedEntryOf is entryOf with a timeout.
func timedEntryOf(timeout time.Duration, h ManyHandler) taskEntry {
	return taskEntry{call: h.call, timeout: timeout}
}

// executed runs a handler of several jobs and returns what is reported of them.
func executed(t *testing.T, jobs []*Job, task taskEntry) []outcome {
	t.Helper()
	outcomes := make(chan outcome, len(jobs))
	e := &executor{crew: &crew{
		backlog: newBacklog(ration.New(1, 0)), outcomes: outcomes, events: &eventBus{}, handling: t.Context(),
	}}
	if !e.begin(jobs) {
		t.Fatal("it does not begin")
	}
	go e.execute(jobs, task)
	all := make([]outcome, len(jobs))
	for range jobs {
		o := <-outcomes
		all[slices.Index(jobs, o.job)] = o
	}
	if n := len(e.appendLasting(nil, 0)); n != 0 {
		t.Errorf("%d jobs still run", n)
	}
	return all
}

func heldJobs(n int) (jobs []*Job) {
	for i := range n {
		job := newHeldJob(int64(i + 1))
		job.TaskIdentifier, job.MaxAttempts = "many", 3
		jobs = append(jobs, job)
	}
	return jobs
}

func TestEachOfSeveralJobsHasItsOwnOutcome(t *testing.T) {
	all := executed(t, heldJobs(4), entryOf(func(context.Context, []*Job) []error {
		return []error{nil, errors.New("no"), Discard(errors.New("never")), Snooze(time.Minute)}
	}))
	for i, want := range []Outcome{OutcomeCompleted, OutcomeFailed, OutcomePermanentlyFailed, OutcomeSnoozed} {
		if got := all[i].asked(); got != want {
			t.Errorf("job %d: %s, want %s", i+1, got, want)
		}
	}
}

func TestAHandlerOfSeveralJobsThatDoesNotReturnAnErrorForEachFailsThemAll(t *testing.T) {
	for want, many := range map[string]ManyHandler{
		"handler returned 1 errors for 2 jobs": func(context.Context, []*Job) []error { return []error{nil} },
		"handler returned 0 errors for 2 jobs": func(context.Context, []*Job) []error { return []error{} },
		"panic: oh":                            func(context.Context, []*Job) []error { panic("oh") },
		errExited.Error():                      func(context.Context, []*Job) []error { runtime.Goexit(); return nil },
	} {
		for _, o := range executed(t, heldJobs(2), entryOf(many)) {
			if o.verdict != verdictFailed || !strings.HasPrefix(o.message, want) {
				t.Errorf("verdict %d, %q; want a failure with %q", o.verdict, o.message, want)
			}
		}
	}
	for _, o := range executed(t, heldJobs(2), entryOf(func(context.Context, []*Job) []error { return nil })) {
		if o.verdict != verdictCompleted {
			t.Errorf("verdict %d after no error", o.verdict)
		}
	}
}

func TestOneOfSeveralJobsIsLostAlone(t *testing.T) {
	jobs := heldJobs(3)
	outcomes := make(chan outcome, 3)
	e := &executor{crew: &crew{backlog: newBacklog(ration.New(1, 0)), outcomes: outcomes, handling: t.Context()}}
	e.begin(jobs)
	e.execute(jobs, entryOf(func(ctx context.Context, _ []*Job) []error {
		e.interrupt(jobs[1], ErrLeaseLost)
		if ctx.Err() != nil {
			t.Error("the context of all has ended")
		}
		return nil
	}))
	for _, want := range []verdict{verdictCompleted, verdictLost, verdictCompleted} {
		if o := <-outcomes; o.verdict != want {
			t.Errorf("job %d: verdict %d, want %d", o.job.ID, o.verdict, want)
		}
	}
}

func TestOneOfSeveralJobsIsCanceledWithoutEndingTheOthers(t *testing.T) {
	jobs := heldJobs(3)
	outcomes := make(chan outcome, 3)
	e := &executor{crew: &crew{backlog: newBacklog(ration.New(1, 0)), outcomes: outcomes, handling: t.Context()}}
	e.begin(jobs)
	e.execute(jobs, entryOf(func(ctx context.Context, _ []*Job) []error {
		e.interrupt(jobs[0], ErrCanceled)
		e.interrupt(jobs[1], ErrCanceled)
		if ctx.Err() != nil {
			t.Error("the context of all has ended")
		}
		return []error{errors.New("no"), nil, errors.New("no")}
	}))
	for _, want := range []Outcome{OutcomePermanentlyFailed, OutcomeCompleted, OutcomeFailed} {
		if o := <-outcomes; o.asked() != want {
			t.Errorf("job %d: %s, want %s", o.job.ID, o.asked(), want)
		}
	}
}

func TestALoneJobOfAHandlerOfSeveralIsEnded(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*executor, *Job)
		want error
	}{
		"canceled": {func(e *executor, job *Job) { e.interrupt(job, ErrCanceled) }, ErrCanceled},
		"lost":     {func(e *executor, job *Job) { e.interrupt(job, ErrLeaseLost) }, ErrLeaseLost},
	} {
		jobs := heldJobs(1)
		e := &executor{crew: &crew{backlog: newBacklog(ration.New(1, 0)), outcomes: make(chan outcome, 1),
			handling: t.Context()}}
		e.begin(jobs)
		e.execute(jobs, timedEntryOf(time.Hour, func(ctx context.Context, _ []*Job) []error {
			c.end(e, jobs[0])
			<-ctx.Done()
			if cause := context.Cause(ctx); !errors.Is(cause, c.want) {
				t.Errorf("%s: the context has ended by %v", name, cause)
			}
			return []error{ctx.Err()}
		}))
	}
}

func TestSeveralJobsShareTheTimeOfTheirTask(t *testing.T) {
	all := executed(t, heldJobs(2), timedEntryOf(time.Millisecond, func(ctx context.Context, _ []*Job) []error {
		<-ctx.Done()
		return []error{ctx.Err(), nil}
	}))
	if o := all[0]; o.verdict != verdictFailed || o.message != "timed out after 1ms: context deadline exceeded" {
		t.Errorf("verdict %d, %q", o.verdict, o.message)
	}
	if o := all[1]; o.verdict != verdictCompleted {
		t.Errorf("verdict %d of the one that is done, %q", o.verdict, o.message)
	}
	if all[0].duration != all[1].duration || all[0].duration <= 0 {
		t.Errorf("they took %s and %s", all[0].duration, all[1].duration)
	}
}

func TestSeveralJobsWhoseHandlerIsLeftBehindAreReturned(t *testing.T) {
	jobs := heldJobs(2)
	outcomes := make(chan outcome, 4)
	started, end := make(chan struct{}), make(chan struct{})
	left := make(chan struct{})
	e := &executor{
		crew:    &crew{backlog: newBacklog(ration.New(1, 0)), outcomes: outcomes, handling: t.Context()},
		stopped: func() {},
	}
	e.begin(jobs)
	go func() {
		defer close(left)
		e.execute(jobs, entryOf(func(context.Context, []*Job) []error {
			close(started)
			<-end
			return nil
		}))
	}()
	<-started
	e.abandon()
	close(end)
	<-left
	close(outcomes)
	var got []string
	for o := range outcomes {
		got = append(got, fmt.Sprint(o.job.ID, o.verdict, o.interrupted))
	}
	if want := []string{fmt.Sprint(1, verdictReturned, true), fmt.Sprint(2, verdictReturned, true)}; !slices.Equal(got,
		want) {
		t.Errorf("outcomes %v, want %v", got, want)
	}
}

func TestMiddlewareIsAroundEachOfSeveralJobs(t *testing.T) {
	no := errors.New("no")
	var seen []string
	handler, err := ManyHandler(func(_ context.Context, jobs []*Job) []error {
		var ids []int64
		errs := make([]error, len(jobs))
		for i, job := range jobs {
			ids = append(ids, job.ID)
			if job.ID == 2 {
				errs[i] = no
			}
		}
		seen = append(seen, fmt.Sprint("handler ", ids))
		return errs
	}).wrapped([]Middleware{func(next Handler) Handler {
		return func(ctx context.Context, job *Job) error {
			if of, _ := JobFromContext(ctx); of != job {
				t.Errorf("job %d runs under the context of %v", job.ID, of)
			}
			if job.ID == 3 {
				return errors.New("not let through")
			}
			err := next(ctx, job)
			seen = append(seen, fmt.Sprint("job ", job.ID, " ", err))
			return err
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	errs := handler(t.Context(), heldJobs(4))
	if got, want := fmt.Sprint(errs), "[<nil> no not let through <nil>]"; got != want {
		t.Errorf("errors %s, want %s", got, want)
	}
	if want := []string{"handler [1 2 4]", "job 4 <nil>", "job 2 no", "job 1 <nil>"}; !slices.Equal(seen, want) {
		t.Errorf("seen %q, want %q", seen, want)
	}
}

func TestAnExecutorTakesItsShareOfTheJobsOfATask(t *testing.T) {
	b := newBacklog(ration.New(4, 0))
	var jobs []*Job
	for i := range 10 {
		job := newClaimed(int64(i+1), 0, time.Time{})
		job.TaskIdentifier = map[bool]string{true: "other", false: "many"}[i == 2 || i == 3]
		jobs = append(jobs, job)
	}
	b.add(jobs, false, 1)
	take := func(idle, most int, want ...int64) {
		t.Helper()
		b.idle = idle
		var got []int64
		for _, job := range b.more(b.next(), most) {
			got = append(got, job.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("took %v, want %v", got, want)
		}
	}
	take(2, 64, 1, 2, 5, 6) // a third of the nine behind it, past the others'
	take(0, 64, 3, 4)
	take(0, 2, 7, 8)
	take(5, 64, 9)
	take(0, 64, 10)
	if len(b.waiting) != 0 || b.busy != 10 {
		t.Errorf("%d wait, %d are busy", len(b.waiting), b.busy)
	}
}

func TestWhatIsSaidOfATransactionDecidesWhatTheHandlersErrorMeans(t *testing.T) {
	refusal := &pgconn.PgError{Code: "GWWLL", Detail: "2"}
	for name, c := range map[string]struct {
		say  func(*Completion)
		err  error
		want verdict
		inTx bool
	}{
		"committed":                  {(*Completion).Committed, nil, verdictCommitted, false},
		"committed, with an error":   {(*Completion).Committed, refusal, verdictCommitted, false},
		"rolled back":                {func(c *Completion) { c.RolledBack(nil) }, refusal, verdictFailed, false},
		"nothing, with an error":     {func(*Completion) {}, refusal, verdictFailed, true},
		"nothing, without one":       {func(*Completion) {}, nil, verdictFailed, true},
		"rolled back, without error": {func(c *Completion) { c.RolledBack(nil) }, nil, verdictCompleted, false},
	} {
		t.Run(name, func(t *testing.T) {
			jobs := heldJobs(1)
			jobs[0].worker = &host{}
			o := executed(t, jobs, entryOf(func(_ context.Context, jobs []*Job) []error {
				completion, err := CompletionOf(jobs)
				if err != nil {
					return []error{err}
				}
				c.say(completion)
				return []error{c.err}
			}))[0]
			if o.verdict != c.want || o.inTx != c.inTx {
				t.Errorf("verdict %d, in a transaction: %t; want %d, %t", o.verdict, o.inTx, c.want, c.inTx)
			}
		})
	}
}

func TestACompletionNamesTheJobsThatWereLost(t *testing.T) {
	jobs := heldJobs(3)
	worker := &host{}
	for _, job := range jobs {
		job.worker = worker
	}
	completion, err := CompletionOf(jobs)
	if err != nil {
		t.Fatal(err)
	}
	lost := completion.RolledBack(fmt.Errorf("run: %w", &pgconn.PgError{Code: "GWWLL", Detail: "3,1"}))
	if !slices.Equal(lost, []*Job{jobs[0], jobs[2]}) {
		t.Errorf("lost are %v", lost)
	}
	if lost := completion.RolledBack(&pgconn.PgError{Code: "23505", Detail: "1"}); lost != nil {
		t.Errorf("by another error, lost are %v", lost)
	}
}

func TestOnlyJobsThatOneWorkerHoldsCanBeCompletedTogether(t *testing.T) {
	jobs := heldJobs(2)
	jobs[0].worker, jobs[1].worker = &host{}, &host{}
	for _, wrong := range [][]*Job{nil, jobs, {{ID: 1}}} {
		if _, err := CompletionOf(wrong); err == nil {
			t.Errorf("no error for %d jobs", len(wrong))
		}
	}
}
