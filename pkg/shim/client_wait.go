package shim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// The pause between two queries for ended jobs is a quarter of the time for which the latest call has waited, within these
// bounds. A query has a timeout, because a connection may hang.
const (
	shortLook  = 10 * time.Millisecond
	longLook   = 500 * time.Millisecond
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

// Wait waits until a job has ended, and returns nil if it has completed or was removed: such a job no longer exists. If it
// has failed permanently, the error is a [*JobFailedError]. A failed job that has attempts left has not ended. The job must
// be committed: a job that is not visible counts as ended.
//
// All waiting calls of a client share one query, at most twice a second, so Wait returns at most half a second after the end
// of the job. No connection is held between the queries. While the database cannot be reached, Wait continues until ctx
// ends; then it returns the error of ctx. The client must be on a pool or a *sql.DB. The role needs the privileges of a
// producer of all tasks or of an administrator, and those of an administrator to read the error of the job.
func (c *Client) Wait(ctx context.Context, id int64) error {
	if c.db == nil {
		return errNoDatabase
	}
	w := &waiter{id: id, since: time.Now(), ended: make(chan waitEnd, 1)}
	c.waits.add(c, w)
	defer c.waits.remove(w)
	select {
	case <-ctx.Done():
		return fmt.Errorf("wait for job %d: %w", id, context.Cause(ctx))
	case end := <-w.ended:
		if end.err != nil {
			return fmt.Errorf("wait for job %d: %w", id, end.err)
		}
		if end.state == "failed" {
			return c.failure(ctx, id)
		}
		return nil
	}
}

// failure returns the error of a job that has failed.
func (c *Client) failure(ctx context.Context, id int64) error {
	failed := &JobFailedError{ID: id}
	if job, err := c.Job(ctx, id); err == nil { // else it is gone by now, or may not be seen
		failed.LastError = job.LastError
	}
	return failed
}

// waiter is a call that waits.
type waiter struct {
	id    int64
	since time.Time
	ended chan waitEnd
}

type waitEnd struct {
	state string
	err   error
}

// waits are the waiting calls of a client.
type waits struct {
	mu      sync.Mutex
	calls   map[*waiter]bool
	looking bool
	joined  signal
}

func newWaits() *waits { return &waits{calls: make(map[*waiter]bool), joined: newSignal()} }

func (w *waits) add(c *Client, call *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[call] = true
	if !w.looking {
		w.looking = true
		go w.look(c)
	}
	w.joined.set()
}

func (w *waits) remove(call *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls, call)
}

// look queries for ended jobs until no call waits.
func (w *waits) look(c *Client) {
	for {
		ids, pause := w.next()
		if len(ids) == 0 {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), lookAtMost)
		ends, err := c.ends(ctx, ids)
		cancel()
		w.tell(ends, err)
		select {
		case <-time.After(pause):
		case <-w.joined:
			time.Sleep(shortLook) // other calls may follow
		}
	}
}

// next returns the jobs for whose ends calls wait, and the pause after a query. If there are none, no further query follows.
func (w *waits) next() (ids []int64, pause time.Duration) {
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
	w.looking = len(jobs) > 0
	return slices.Collect(maps.Keys(jobs)), min(max(time.Since(youngest)/4, shortLook), longLook)
}

// tell passes the ends of jobs to the calls that wait for them. Only an error that a retry cannot solve ends the calls.
func (w *waits) tell(ends map[int64]string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for call := range w.calls {
		state, ended := ends[call.id]
		switch {
		case err != nil && (isMistake(err) || errors.Is(err, ErrNotGranted)):
			call.ended <- waitEnd{err: err}
		case err == nil && ended:
			call.ended <- waitEnd{state: state}
		default:
			continue
		}
		delete(w.calls, call)
	}
}

// ends returns those of these jobs that have ended, and how.
func (c *Client) ends(ctx context.Context, ids []int64) (map[int64]string, error) {
	ends := make(map[int64]string)
	err := c.each(ctx, func(scan func(...any) error) error {
		var id int64
		var state string
		if err := scan(&id, &state); err != nil {
			return err
		}
		ends[id] = state
		return nil
	}, `select e.id, e.state from S.job_ends($1::bigint[]) as e`, idArray(ids))
	return ends, err
}
