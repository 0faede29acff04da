package shim

import (
	"context"
	"crypto/rand"
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

// waitingCalls are the waiting calls of a client.
type waitingCalls struct {
	mu        sync.Mutex
	calls     map[*waiter]bool
	newcomers map[int64]bool // jobs of calls that joined since the last query
	told      map[int64]bool // jobs whose ends were notified since the last query
	looking   bool
	joined    signal
	heard     signal
	hears     atomic.Bool // notifications arrive
}

func newWaits() *waitingCalls {
	return &waitingCalls{
		calls: make(map[*waiter]bool), newcomers: make(map[int64]bool), told: make(map[int64]bool), joined: newSignal(),
		heard: newSignal(),
	}
}

// waiter is a call that waits.
type waiter struct {
	id    int64
	since time.Time
	ended chan waitEnd
}

type waitEnd struct {
	id        int64
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

// wait returns the end of a job.
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

// failure returns the error of a job that has failed.
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
	w.calls[call], w.newcomers[call.id] = true, true
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
			w.ask(c, w.notified())
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
	if joined := w.takeJoined(); len(joined) > 0 && !c.await(ctx, joined) {
		w.hears.Store(false)
	}
	ends, err := c.ends(ctx, ids)
	w.tell(ends, err)
}

// next returns the jobs for whose ends calls wait, and the pause after a query.
func (w *waitingCalls) next() (ids []int64, pause time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	jobs := make(map[int64]bool, len(w.calls))
	var youngest time.Time
	for call := range w.calls {
		jobs[call.id] = true
		if call.since.After(youngest) {
			youngest = call.since
		}
	}
	if len(jobs) == 0 {
		return nil, connection.SpareTime
	}
	most := longLook
	if w.hears.Load() {
		most = farLook
	}
	return slices.Collect(maps.Keys(jobs)), min(max(time.Since(youngest)/4, shortLook), most)
}

// isIdle reports whether no call waits, and none waited before the last pause, so that the loop may end.
func (w *waitingCalls) isIdle(before int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.looking = before > 0 || len(w.calls) > 0
	return !w.looking
}

func (w *waitingCalls) takeJoined() []int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	ids := slices.Collect(maps.Keys(w.newcomers))
	clear(w.newcomers)
	return ids
}

// notified returns the jobs for which calls wait and whose ends were notified.
func (w *waitingCalls) notified() (ids []int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for call := range w.calls {
		if w.told[call.id] && !slices.Contains(ids, call.id) {
			ids = append(ids, call.id)
		}
	}
	clear(w.told)
	return ids
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

// ends returns those of these jobs that have ended, and how.
func (c *Client) ends(ctx context.Context, ids []int64) (map[int64]waitEnd, error) {
	list, err := listed(ctx, c, func(e *waitEnd) []any {
		return []any{&e.id, &e.state, rows.OrZero(&e.lastError),
			&e.result}
	},
		`select r.id, r.state, r.error, r.result::text from S.job_results($1::bigint[]) as r`, rows.IDArray(ids))
	ends := make(map[int64]waitEnd, len(list))
	for _, end := range list {
		ends[end.id] = end
	}
	return ends, err
}

// await asks the database to notify the ends of jobs, and reports whether it does.
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

// hear records that the end of a job was notified.
func (w *waitingCalls) hear(id int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for call := range w.calls {
		if call.id == id {
			w.told[id] = true
			w.heard.set()
			return
		}
	}
}
