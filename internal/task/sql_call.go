package task

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shim"
)

// answerTime is the time that the worker waits for the answer of the server beyond the timeout of the statement.
const answerTime = time.Minute

// caller calls a function for one job or for several, in a transaction that also completes them.
type caller struct {
	function
	call    string
	keeps   bool // the second parameter of the call are the ids of the jobs
	timeout time.Duration
	log     *slog.Logger
}

func (c *caller) one(ctx context.Context, tx pgx.Tx, job *shim.Job) error {
	args := []any{string(job.Payload)}
	if c.keeps {
		args = append(args, job.ID)
	}
	return c.send(ctx, tx, nil, args)
}

var errResults = errors.New("the wrong number of results")

// many calls the function for jobs. What it does wrong for several jobs is logged, because each of them runs alone
// after that and may succeed.
func (c *caller) many(ctx context.Context, tx pgx.Tx, jobs []*shim.Job) error {
	err := c.callForAll(ctx, tx, jobs)
	if len(jobs) > 1 && ctx.Err() == nil && (sqlstate.Of(err) != "" || errors.Is(err, errResults)) {
		c.log.Warn("call for several jobs failed, each of them runs alone",
			"task_identifier", jobs[0].TaskIdentifier, "jobs", len(jobs), "error", err)
	}
	return err
}

func (c *caller) callForAll(ctx context.Context, tx pgx.Tx, jobs []*shim.Job) error {
	texts, err := c.texts(jobs)
	if err != nil {
		return err
	}
	if !c.keeps {
		return c.send(ctx, tx, nil, []any{texts})
	}
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		ids[i] = job.ID
	}
	var results int
	err = c.send(ctx, tx, func(row pgx.Row) error { return row.Scan(&results, nil) }, []any{texts, ids})
	if err == nil && results != len(jobs) {
		err = fmt.Errorf("%s returned %w: %d for an array of %d; it must return one for each element in their order, or void",
			c.Name, errResults, results, len(jobs))
	}
	return err
}

// send sends the call with its timeout. read reads its answer, nil if it does not matter.
func (c *caller) send(ctx context.Context, tx pgx.Tx, read func(pgx.Row) error, args []any) error {
	ctx, cancel := context.WithTimeout(ctx, c.timeout+answerTime)
	defer cancel()
	var statements pgx.Batch
	statements.Queue(fmt.Sprintf("set local statement_timeout = %d", c.timeout.Milliseconds()))
	if call := statements.Queue(c.call, args...); read != nil {
		call.QueryRow(read)
	}
	err := tx.SendBatch(ctx, &statements).Close()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case sqlstate.Of(err) == "26000":
		_ = tx.Conn().Close(ctx) // the server has forgotten what was prepared
	}
	return c.failed(err)
}

// texts returns the elements of the function's array: the descriptions of the jobs, or their payloads.
func (c *caller) texts(jobs []*shim.Job) ([]string, error) {
	texts := make([]string, len(jobs))
	for i, job := range jobs {
		texts[i] = string(job.Payload)
		if !c.TakesJobs {
			continue
		}
		line, err := jsonLine(newRequest(job))
		if err != nil {
			return nil, err
		}
		texts[i] = string(bytes.TrimSpace(line))
	}
	return texts, nil
}

// maxErrorPart is the maximum number of bytes that are stored of a detail, a hint or a context.
const maxErrorPart = 2 << 10

// failed converts an error of the function to the error to store.
func (f *function) failed(err error) error {
	refusal, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	if refusal.Code == "2D000" {
		return shim.Discard(fmt.Errorf(
			"%s commits or rolls back by itself, which it cannot within the transaction that completes its job: %w",
			f.Name, refusal))
	}
	return &databaseError{function: f.Name, PgError: refusal, err: err}
}

// databaseError is an error of PostgreSQL whose text contains its detail, hint and context.
type databaseError struct {
	function string
	*pgconn.PgError
	err error
}

func (e *databaseError) Unwrap() error { return e.err }

func (e *databaseError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s (SQLSTATE %s)", e.function, e.Message, e.Code)
	for _, part := range []struct{ name, text string }{
		{"DETAIL", e.Detail}, {"HINT", e.Hint}, {"CONTEXT", e.Where},
	} {
		text, isCut := beginning(part.text, maxErrorPart)
		if isCut {
			text += "…"
		}
		if text != "" {
			fmt.Fprintf(&b, "\n%s: %s", part.name, text)
		}
	}
	return b.String()
}
