package shim

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/rows"
	"github.com/gwsql/gw/internal/sqlstate"
)

type waitingCalls struct {
	mu      sync.Mutex
	calls   map[*waiter]bool
	looking bool
	joined  signal
	heard   signal
	hears   atomic.Bool // notifications arrive
}

type waiter struct {
	id    int64
	since time.Time
	ended chan waitEnd

	isKnown bool // the database was asked to notify the end of the job
	isTold  bool // the end was notified since the last query
}

type waitEnd struct {
	state     string
	lastError string
	result    *string
	err       error
}

// The pause between two queries for ended jobs is a quarter of the time for which the latest call has waited, within
// these bounds; farLook is the upper one while notifications of the ends arrive. A query has a timeout, because a
// connection may hang.
const (
	shortLook  = 10 * time.Millisecond
	longLook   = 500 * time.Millisecond
	farLook    = 5 * time.Second
	lookAtMost = 30 * time.Second
)

// JobFailedError is the error of [Client.Wait] for a job that has failed permanently.
type JobFailedError struct {
	ID        int64
	LastError string // empty if the role may not see it
}

func (e *JobFailedError) Error() string {
	if e.LastError == "" {
		return fmt.Sprintf("job %d has failed permanently", e.ID)
	}
	return fmt.Sprintf("job %d has failed permanently: %s", e.ID, e.LastError)
}

// Wait waits until a job has ended, and returns nil if it has completed or was removed: such a job no longer exists. If
// it has failed permanently, the error is a [*JobFailedError]. A failed job that has attempts left has not ended. The
// job must be committed: a job that is not visible counts as ended. The function [Wait] also returns the result of the
// job.
//
// All waiting calls of a client share one query, and, on a pool, one connection of their own on which the end of a job
// is notified at once. Where notifications do not arrive, as on a *sql.DB or behind a pooler in transaction mode, the
// query is repeated twice a second. The connection is closed ten seconds after the last call. While the database cannot
// be reached, Wait continues until ctx
// ends; then it returns the error of ctx. The client must be on a pool or a *sql.DB. The role needs the privileges of a
// producer of all tasks or of an administrator, and those of an administrator to read the error of the job.
func (c *Client) Wait(ctx context.Context, id int64) error {
	end, err := c.wait(ctx, id)
	if err == nil && end.state == "permanently_failed" {
		return c.failure(ctx, id, end)
	}
	return err
}

func (c *Client) wait(ctx context.Context, id int64) (waitEnd, error) {
	if c.db == nil {
		return waitEnd{}, errNoDatabase
	}
	w := &waiter{id: id, since: time.Now(), ended: make(chan waitEnd, 1)}
	c.waits.add(c, w)
	defer c.waits.remove(w)
	select {
	case <-ctx.Done():
		return waitEnd{}, fmt.Errorf("wait for job %d: %w", id, context.Cause(ctx))
	case end := <-w.ended:
		if end.err != nil {
			return waitEnd{}, fmt.Errorf("wait for job %d: %w", id, end.err)
		}
		return end, nil
	}
}

func (c *Client) failure(ctx context.Context, id int64, end waitEnd) error {
	failed := &JobFailedError{ID: id, LastError: end.lastError}
	if job, err := c.Job(ctx, id); err == nil { // else it is gone by now, or may not be seen
		failed.LastError = job.LastError
	}
	return failed
}

func (w *waitingCalls) add(c *Client, call *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[call] = true
	if !w.looking {
		w.looking = true
		go w.look(c)
	}
	w.joined.set()
}

func (w *waitingCalls) remove(call *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls, call)
}

// look queries for ended jobs until no call has waited for the time connection.SpareTime.
func (w *waitingCalls) look(c *Client) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	go w.listen(ctx, c)
	for {
		ids, pause := w.next()
		if len(ids) > 0 {
			w.ask(c, ids)
		}
		select {
		case <-time.After(pause):
			if w.isIdle(len(ids)) {
				return
			}
		case <-w.joined:
			time.Sleep(shortLook) // other calls may follow
		case <-w.heard:
			w.ask(c, w.ids(func(call *waiter) bool { return isSet(&call.isTold, false) }))
		}
	}
}

// ask queries which of these jobs have ended, after it has asked for the notifications of new ones.
func (w *waitingCalls) ask(c *Client, ids []int64) {
	if len(ids) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookAtMost)
	defer cancel()
	joined := w.ids(func(call *waiter) bool { return !isSet(&call.isKnown, true) })
	if len(joined) > 0 && !c.await(ctx, joined) {
		w.hears.Store(false)
	}
	ends, err := c.ends(ctx, ids)
	w.tell(ends, err)
}

// ids returns the jobs of the calls for which of returns true.
func (w *waitingCalls) ids(of func(*waiter) bool) []int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	jobs := make(map[int64]bool, len(w.calls))
	for call := range w.calls {
		if of(call) {
			jobs[call.id] = true
		}
	}
	return slices.Collect(maps.Keys(jobs))
}

// isSet returns whether a flag was set, and sets it.
func isSet(flag *bool, now bool) (before bool) {
	before, *flag = *flag, now
	return before
}

// next returns the jobs for whose ends calls wait, and the pause after a query.
func (w *waitingCalls) next() (ids []int64, pause time.Duration) {
	var youngest time.Time
	ids = w.ids(func(call *waiter) bool {
		if call.since.After(youngest) {
			youngest = call.since
		}
		return true
	})
	switch pause = max(time.Since(youngest)/4, shortLook); {
	case len(ids) == 0:
		return nil, connection.SpareTime
	case w.hears.Load():
		return ids, min(pause, farLook)
	}
	return ids, min(pause, longLook)
}

// isIdle reports whether no call waits, and none waited before the last pause, so that the loop may end.
func (w *waitingCalls) isIdle(before int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looking = before > 0 || len(w.calls) > 0
	return !w.looking
}

// tell passes the ends of jobs to the calls that wait for them. Only an error that a retry cannot solve ends the calls.
func (w *waitingCalls) tell(ends map[int64]waitEnd, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for call := range w.calls {
		end, ended := ends[call.id]
		switch {
		case err != nil && (sqlstate.IsMistake(err) || errors.Is(err, ErrNotGranted)):
			call.ended <- waitEnd{err: err}
		case err == nil && ended:
			call.ended <- end
		default:
			continue
		}
		delete(w.calls, call)
	}
}

func (c *Client) ends(ctx context.Context, ids []int64) (map[int64]waitEnd, error) {
	return mapped(ctx, c,
		func(id *int64, e *waitEnd) []any { return []any{id, &e.state, rows.OrZero(&e.lastError), &e.result} },
		`select r.id, r.state, r.error, r.result::text from S.job_results($1::bigint[]) as r`, rows.IDArray(ids))
}

func (c *Client) await(ctx context.Context, ids []int64) (notified bool) {
	notified, err := singleValue[bool](ctx, c, `select S.await_jobs($1::bigint[])`, rows.IDArray(ids))
	return err == nil && notified
}

// listen passes on the notified ends of jobs until ctx ends, on a connection of its own. It does nothing unless the
// client is on a pool.
func (w *waitingCalls) listen(ctx context.Context, c *Client) {
	pool := rows.PoolOf(c.db)
	if pool == nil {
		return
	}
	var retry connection.Backoff
	for {
		started := time.Now()
		_ = w.listenOnce(ctx, pool) // without notifications, the calls query more often
		w.hears.Store(false)
		if time.Since(started) >= healthy {
			retry.Reset()
		}
		if !retry.Wait(ctx) {
			return
		}
	}
}

func (w *waitingCalls) listenOnce(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := connection.Like(ctx, pool)
	if err != nil {
		return err
	}
	defer connection.Close(ctx, conn)
	if _, err := conn.Exec(ctx, `listen "jobs:end"`); err != nil {
		return err
	}
	// A pooler in transaction mode accepts LISTEN, but passes no notifications on. One that arrives shows that there is
	// none.
	probe := "probe " + rand.Text()
	if _, err := pool.Exec(ctx, `select pg_catalog.pg_notify('jobs:end', '`+probe+`')`,
		pgx.QueryExecModeSimpleProtocol); err != nil {
		return err
	}
	for {
		payload, err := connection.WaitForNotification(ctx, conn)
		if err != nil {
			return err
		}
		if payload.Payload == probe {
			w.hears.Store(true)
			w.joined.set() // look again: an end before this may not have been notified
			continue
		}
		if id, err := strconv.ParseInt(payload.Payload, 10, 64); err == nil {
			w.hear(id)
		}
	}
}

func (w *waitingCalls) hear(id int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for call := range w.calls {
		if call.id == id {
			call.isTold = true
			w.heard.set()
		}
	}
}

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
// does. opts may be nil. If ctx ends first, the job runs nevertheless.
func AddAndWait[T any](ctx context.Context, c *Client, task string, payload any,
	opts *AddOptions) (result T, err error) {
	expecting := *cmp.Or(opts, &AddOptions{})
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
