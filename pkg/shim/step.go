package shim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/internal/storable"
)

// maxStepName is the maximum length of the name of a step, in characters. The database refuses longer ones, but only
// after the step has run.
const maxStepName = 128

// errStepName is returned for the name of a step before the step runs.
var errStepName = errors.New("the name of a step must have 1 to 128 characters of UTF-8 without zero bytes")

// Step runs a step of a job and saves its result as JSON, so that a later attempt of the job returns that result
// instead of running the step again. The name identifies the step within its job: 1 to 128 characters, such as "charge"
// or "page 7". If fn fails, nothing is saved, and Step returns its error.
//
// The result is saved after fn has returned, and also if ctx has ended meanwhile. If the worker dies between the two,
// the step runs again: use [StepTx] for steps that write to the database of the queue. Results may have up to 1 MiB as
// JSON; a larger one is refused with the SQLSTATE GWWSR. An error matches [ErrLeaseLost] if the job is no longer this
// worker's. Steps need not run in a certain order, and may run at the same time under different names.
//
// Saved steps stay until some time after the job has gone. A request that replaces the job under its key starts without
// steps. The first call in an attempt reads all steps of the job; jobs without steps pay nothing. Without a worker, as
// in a test, Step only calls fn.
func Step[T any](ctx context.Context, job *Job, name string, fn func(context.Context) (T, error)) (T, error) {
	return runStep(ctx, job, stepStore{job: job.own(), client: job.Client()}, name, fn)
}

// StepTx is [Step] within a transaction of the handler, in the database of the queue: what fn writes by tx is committed
// together with the step, so it is done exactly once. A step whose transaction is rolled back was not done. Until the
// transaction ends, the job's row is locked, so keep it short, and end it before the handler returns.
func StepTx[T any](ctx context.Context, job *Job, tx DB, name string, fn func(context.Context) (T, error)) (T, error) {
	return runStep(ctx, job, stepStore{job: job.own(), client: job.Client().With(tx), inTx: true}, name, fn)
}

// StepSQLTx is [StepTx] for database/sql.
func StepSQLTx[T any](ctx context.Context, job *Job, tx SQLDB, name string,
	fn func(context.Context) (T, error)) (T, error) {
	return runStep(ctx, job, stepStore{job: job.own(), client: job.Client().WithSQL(tx), inTx: true}, name, fn)
}

func runStep[T any](
	ctx context.Context, job *Job, store stepStore, name string, fn func(context.Context) (T, error),
) (result T, err error) {
	if n := utf8.RuneCountInString(name); n == 0 || n > maxStepName || cleanMessage(name) != name {
		return result, fmt.Errorf("step %q of job %d: %w", name, job.ID, errStepName)
	}
	if job.worker == nil {
		return fn(ctx)
	}
	saved, found, err := store.find(ctx, name)
	if err != nil {
		return result, fmt.Errorf("read the steps of job %d: %w", job.ID, err)
	}
	if found {
		return readStep[T](job, name, saved)
	}
	result, err = fn(ctx)
	if err != nil {
		return result, err
	}
	text, err := json.Marshal(result)
	if err != nil {
		return result, fmt.Errorf("write the result of step %q of job %d: %w", name, job.ID, err)
	}
	saved, err = store.save(ctx, name, string(text))
	if err != nil {
		return result, fmt.Errorf("save step %q of job %d: %w", name, job.ID, err)
	}
	if saved != string(text) { // the step was saved meanwhile, and the first result counts
		return readStep[T](job, name, saved)
	}
	return result, nil
}

func readStep[T any](job *Job, name, saved string) (result T, err error) {
	if err := json.Unmarshal([]byte(saved), &result); err != nil {
		return result, fmt.Errorf("read the saved result of step %q of job %d: %w", name, job.ID, err)
	}
	return result, nil
}

// stepStore reads and saves the steps of a job on one connection.
type stepStore struct {
	job    *Job
	client *Client
	inTx   bool // of a transaction of the handler
}

func (s stepStore) find(ctx context.Context, name string) (saved string, found bool, err error) {
	known := s.job.hold.stepsOf()
	known.mu.Lock()
	defer known.mu.Unlock()
	doubtful := slices.Contains(known.doubtful, name)
	if known.isRead && !doubtful {
		saved, found = known.saved[name]
		return saved, found, nil
	}
	stored, err := s.read(ctx)
	if err != nil {
		return "", false, err
	}
	saved, found = stored[name]
	if !doubtful { // otherwise the transaction may be this one, and may be rolled back yet
		known.saved, known.isRead = stored, true
	}
	return saved, found, nil
}

func (s stepStore) read(ctx context.Context) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return mapped(ctx, s.client, func(name, result *string) []any { return []any{name, result} },
		`select s.name, s.result::text from S.job_steps($1::bigint) as s`, s.job.ID)
}

// save saves the result of a step and returns the one that is stored, the first.
func (s stepStore) save(ctx context.Context, name, result string) (saved string, err error) {
	if !s.inTx { // the step was done, even if the handler has to end now
		ctx = context.WithoutCancel(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	lease, release := s.job.hold.useLease()
	defer release()
	saved, err = singleValue[string](ctx, s.client,
		`select S.save_step($1::text, $2::bigint, $3::bigint, $4::text, $5::json)::text`,
		s.job.WorkerID(), s.job.ID, lease, name, storable.JSON(s.job.encoding(), result))
	if sqlstate.Of(err) == "GWWLL" {
		return "", fmt.Errorf("%w: %w", ErrLeaseLost, err)
	}
	if err != nil {
		return "", err
	}
	known := s.job.hold.stepsOf()
	known.mu.Lock()
	defer known.mu.Unlock()
	if s.inTx {
		known.doubtful = append(known.doubtful, name)
	} else {
		known.saved[name] = saved
	}
	return saved, nil
}
