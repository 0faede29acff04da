package adversary

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	// lateness is how much later than the control an honest job may start.
	lateness = time.Second
	// interval is the time between two honest jobs of a task.
	interval = 200 * time.Millisecond
	// overdue is how long the end of a trial waits for honest jobs, which the control may have excused so far.
	overdue = time.Minute
)

// promise is an honest job, from the time at which it was requested.
type promise struct {
	task         string
	due, started time.Time
}

// late returns how late the job started, or how late it is so far.
func (p *promise) late(now time.Time) time.Duration {
	if p.started.IsZero() {
		return now.Sub(p.due)
	}
	return p.started.Sub(p.due)
}

// punctuality is a series of honest jobs with the times at which they started.
type punctuality struct {
	pool *pgxpool.Pool

	mu      sync.Mutex
	last    int64
	jobs    map[int64]*promise
	keep    time.Duration
	done    int
	latest  time.Duration
	excused int
}

func newPunctuality(pool *pgxpool.Pool, keep time.Duration) *punctuality {
	return &punctuality{pool: pool, jobs: make(map[int64]*promise), keep: keep}
}

// add adds a job of the task, which is due now or a little later. It counts as due before it is added, so that a
// producer that has to wait counts as late, too.
func (p *punctuality) add(ctx context.Context, task string) error {
	p.mu.Lock()
	p.last++
	n := p.last
	due := time.Now().Add([]time.Duration{0, 0, 250 * time.Millisecond, time.Second}[n%4])
	p.jobs[n] = &promise{task: task, due: due}
	p.mu.Unlock()
	var queue *string
	if n%3 == 0 && len(honestQueues) > 0 {
		queue = &honestQueues[n%2]
	}
	_, err := p.pool.Exec(ctx, `
		select graphile_worker.add_job($1, json_build_object('n', $2::bigint), queue_name => $3, run_at => $4, job_key => 'honest ' || $2::bigint)`,
		task, n, queue, due)
	if err != nil {
		return fmt.Errorf("add a job of task %s: %w", task, err)
	}
	return nil
}

// start records that a job has started, and returns an error if that is wrong.
func (p *punctuality) start(n int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	job, found := p.jobs[n]
	switch {
	case !found:
		return fmt.Errorf("job %d ran, and had long been done", n)
	case !job.started.IsZero():
		return fmt.Errorf("job %d of task %s ran again after %s", n, job.task, time.Since(job.started))
	}
	job.started = time.Now()
	p.done++
	return nil
}

// worst returns the maximum lateness of jobs between two times.
func (p *punctuality) worst(from, to time.Time) (worst time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	for _, job := range p.jobs {
		over := now
		if !job.started.IsZero() {
			over = job.started
		}
		if !job.due.After(to) && !over.Before(from) {
			worst = max(worst, job.late(now))
		}
	}
	return worst
}

// keep is how long started jobs are remembered. The control remembers its jobs for longer, because a job that they
// excuse is judged again until it is forgotten.
const keep = 10 * time.Second

// judge returns the jobs that are late by more than the lateness of the control.
func (p *punctuality) judge(control *punctuality) (found []string) {
	now := time.Now()
	p.mu.Lock()
	late := make(map[int64]promise)
	for n, job := range p.jobs {
		if job.late(now) > lateness {
			late[n] = *job
		}
		p.latest = max(p.latest, job.late(now))
		if !job.started.IsZero() && now.Sub(job.started) > p.keep {
			delete(p.jobs, n)
		}
	}
	p.mu.Unlock()
	for n, job := range late {
		by := job.late(now)
		if slack := control.worst(job.due, job.due.Add(by)); by-slack > lateness {
			found = append(found, fmt.Sprintf("job %d of task %s is %s late, of the control %s (started: %v)", n,
				job.task,
				by.Round(time.Millisecond), max(0, slack).Round(time.Millisecond), !job.started.IsZero()))
		} else {
			p.excused++
		}
	}
	slices.Sort(found)
	return found
}

// forget discards all earlier results.
func (p *punctuality) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	clear(p.jobs)
	p.done = 0
}

// pending returns how many jobs have not started.
func (p *punctuality) pending() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, job := range p.jobs {
		if job.started.IsZero() {
			n++
		}
	}
	return n
}
