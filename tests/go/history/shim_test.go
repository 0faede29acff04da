package history

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/pkg/shim"
)

// shimLife is the number of jobs after which a shim worker is stopped at once and replaced by another.
const shimLife = 40

var errHandler = errors.New("failed")

// shim runs the first of the tasks with workers of pkg/shim, one after the other. Their claims are recorded from the
// jobs of the handlers, their outcomes from the results of the handlers; the time at which the database applies the
// outcomes is not known.
func (r *run) shim(ctx context.Context, s *session) error {
	pool, err := pgxpool.New(ctx, r.url)
	if err != nil {
		return fmt.Errorf("open a pool: %w", err)
	}
	defer pool.Close()
	for life := 1; !r.over(); life++ {
		if err := r.shimWorker(ctx, s, pool, fmt.Sprintf("shim %d.%d", s.number, life)); err != nil {
			return err
		}
	}
	return nil
}

func (r *run) shimWorker(ctx context.Context, s *session, pool *pgxpool.Pool, id string) error {
	worker, err := newWorker(pool, id)
	if err != nil {
		return err
	}
	log := &shimLog{run: r, session: s, pool: pool}
	worker.Handle(tasks[0], func(ctx context.Context, job *shim.Job) error {
		err := log.handle(ctx, job, id)
		if log.handled() == shimLife {
			worker.Kill()
		}
		return err
	})
	if err := r.live(ctx, worker); err != nil {
		return err
	}
	return log.close(ctx)
}

func newWorker(pool *pgxpool.Pool, id string) (*shim.Worker, error) {
	return shim.New(pool, shim.Config{
		WorkerID: id, Concurrency: 4, PollInterval: 100 * time.Millisecond, Grace: time.Second, QuietSuccess: true,
		Logger: slog.New(slog.DiscardHandler),
	})
}

// live runs a worker until it stops itself or enough calls were made.
func (r *run) live(ctx context.Context, worker *shim.Worker) error {
	life, end := context.WithCancel(ctx)
	defer end()
	go func() {
		select {
		case <-r.enough:
			end()
		case <-life.Done():
		}
	}()
	if err := worker.Run(life); err != nil && !errors.Is(err, shim.ErrInterrupted) {
		return fmt.Errorf("run %s: %w", worker.ID(), err)
	}
	return nil
}

// shimLog records the events of one shim worker.
type shimLog struct {
	run      *run
	session  *session
	pool     *pgxpool.Pool
	outcomes []*event
	claims   int
}

// handle is the handler: now and then it fails.
func (l *shimLog) handle(ctx context.Context, job *shim.Job, worker string) error {
	started, err := l.now(ctx)
	if err != nil {
		return err // interrupted before it began: the job is returned, which need not be recorded
	}
	c := row{
		id: job.ID, key: job.Key, revision: job.Revision, priority: job.Priority, runAt: micros(job.RunAt.UnixMicro()),
		queue: job.QueueName, task: job.TaskIdentifier, flagged: len(job.Flags) > 0, attempts: job.Attempts,
		maxAttempts: job.MaxAttempts, leasedAt: micros(job.Lease),
	}
	c.list, c.numbers = numbersIn(string(job.Payload))
	outcome := &event{kind: complete, worker: worker, leases: []lease{{worker, job.ID, c.leasedAt}}, code: unknown,
		start: started}
	if job.ID%10 == 0 {
		outcome.kind, err = fail, errHandler
	}
	if ended, clockErr := l.now(ctx); clockErr == nil {
		outcome.start = ended
	} else {
		outcome.kind, err = giveBack, clockErr
	}
	l.record(&event{kind: claim, worker: worker, start: c.leasedAt, end: started, code: reported, rows: []row{c}},
		outcome)
	return err
}

// now reads the clock of the database. It returns an error only when ctx has ended, and tries again if its connection
// was killed: a handler that failed because of that would leave an outcome that is not recorded.
func (l *shimLog) now(ctx context.Context) (t micros, err error) {
	for {
		err = l.pool.QueryRow(ctx, clock, pgx.QueryExecModeExec).Scan(&t)
		if err == nil || ctx.Err() != nil {
			return t, err
		}
	}
}

func (l *shimLog) record(claimed, outcome *event) {
	l.run.count(claim)
	l.run.count(outcome.kind)
	l.run.mu.Lock()
	defer l.run.mu.Unlock()
	l.run.counts["job of a shim worker"]++
	l.claims++
	l.outcomes = append(l.outcomes, outcome)
	for _, e := range []*event{claimed, outcome} {
		e.session, e.number = l.session.number, len(l.session.events)+1
		l.session.events = append(l.session.events, e)
	}
}

func (l *shimLog) handled() int {
	l.run.mu.Lock()
	defer l.run.mu.Unlock()
	return l.claims
}

// close records the time at which all outcomes have been written.
func (l *shimLog) close(ctx context.Context) error {
	now, err := l.now(ctx)
	if err != nil {
		return fmt.Errorf("read the clock: %w", err)
	}
	for e := range slices.Values(l.outcomes) {
		e.end = now
	}
	return nil
}
