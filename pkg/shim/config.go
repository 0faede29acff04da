package shim

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/guard"
	"github.com/gwsql/gw/pkg/crontab"
)

// Config configures a worker. Its zero value is valid: one job at a time, from the schema graphile_worker.
type Config struct {
	// Schema is the schema of the queue, not quoted. Default: "graphile_worker". Set it to the schema that was given to
	// gw-migrate.
	Schema string

	// Concurrency is the number of handlers that run at once, at most 100 000. Default: 1. Raise it until the machine,
	// or the resource that the handlers wait for, is busy. The worker has its own few connections, however many
	// handlers there are.
	Concurrency int

	// QueueBatch is the maximum number of jobs of one named queue that the worker claims at once and runs one after the
	// other, and of jobs for one slot of a limit. Default: as many as take about 100 ms, 1000 at most. Set it to 1 to
	// claim each job when the one before it has ended.
	QueueBatch int

	// PollInterval is the longest time that an idle worker waits before it searches for jobs without a notification, a
	// day at most. Default: 2 s. Notifications announce new jobs, and the worker reads due times in advance, so a
	// longer interval adds no latency while the listening connection is up. With PollOnly, or the setting notify =
	// never, the interval is the latency.
	PollInterval time.Duration

	// Grace is how long running handlers may continue after the worker was told to stop, before their contexts end.
	// Default: 30 s. A negative Grace ends them at once. Keep it below the timeout of the supervisor that stops the
	// process.
	Grace time.Duration

	// WorkerID is the worker's id in locked_by and in logs: 1 to 128 characters, different for every running worker.
	// Default: "gw-" and 18 random hexadecimal digits, new for each Worker. Set it to identify a worker by its name.
	WorkerID string

	// PollOnly disables the listening connection. Default: false. Set it where LISTEN does not work, such as behind a
	// pooler in transaction mode without direct access to the server.
	PollOnly bool

	// ListenConfig is the configuration of the listening connection. Default: that of the pool's connections. Set it to
	// the server's own address if the pool connects through a pooler in transaction mode.
	ListenConfig *pgx.ConnConfig

	// ForbiddenFlags are flags of jobs that this worker does not claim. Default: none. The option [ForbiddenFlags]
	// forbids flags for a single task.
	ForbiddenFlags []string

	// ForbiddenFlagsFunc returns such flags in place of a list. The worker calls it before each claim, so the flags may
	// change, for example to rate-limit one kind of job. If it returns an error or panics, the claim is postponed. It
	// should be fast, because nothing is claimed in the meantime; its context ends after 30 s, which it shares with the
	// functions of single tasks. If it allows more than before, the next claim finds the waiting jobs, after
	// PollInterval at the latest. Default: none.
	ForbiddenFlagsFunc func(context.Context) ([]string, error)

	// Cron are recurring jobs, whose jobs the worker adds when they are due: [crontab.Item] values, [crontab.Text] and
	// [crontab.File] in any mix, or none. If several workers have the same item, Graphile Worker's included, only one
	// of them adds each job. Every worker also runs the schedules created by the SQL function cron_schedule. RunOnce
	// runs no recurring jobs. [Worker.SetCron] replaces them. Default: none.
	Cron []crontab.Source

	// Middleware wraps the handler of each task, the first being the outermost. Default: none.
	Middleware []Middleware

	// HandleSignals makes Run and RunOnce handle SIGINT and SIGTERM: the first signal calls Stop, a second one Kill.
	// Default: false. Set it if nothing else in the program handles signals.
	HandleSignals bool

	// Propagator puts the values stored with a job, such as a trace, into the handler's context. Default: none. Clients
	// that store them need a Propagator, too. It costs one query for each batch of jobs.
	Propagator Propagator

	// Logger receives the worker's log lines, which have the attributes label, "worker", and worker_id. [Job.Logger] is
	// derived from it. Default: slog.Default().
	Logger *slog.Logger

	// QuietSuccess drops the log line of each completed job. Default: false. Set it on busy queues.
	QuietSuccess bool
}

// completed returns c with its defaults filled in, or an error with all problems.
func (c Config) completed() (Config, error) {
	var problems []error
	refuse := func(is bool, text string, args ...any) {
		if is {
			problems = append(problems, fmt.Errorf(text, args...))
		}
	}
	id := len([]rune(c.WorkerID))
	refuse(c.Concurrency < 0, "concurrency is %d, must be at least 1", c.Concurrency)
	refuse(c.Concurrency > maxConcurrency, "concurrency is %d, must be at most %d", c.Concurrency, maxConcurrency)
	refuse(c.QueueBatch < 0, "queue batch is %d, must be at least 1", c.QueueBatch)
	refuse(c.PollInterval < 0, "poll interval is %s, must be positive", c.PollInterval)
	refuse(id > maxWorkerIDLength, "worker id has %d characters, must have at most %d", id, maxWorkerIDLength)
	refuse(c.PollOnly && c.ListenConfig != nil, "poll only and a listen config exclude each other")
	refuse(c.ForbiddenFlags != nil && c.ForbiddenFlagsFunc != nil, "%w", errTwoForbiddenFlags)
	refuse(slices.ContainsFunc(c.Middleware, func(m Middleware) bool { return m == nil }), "a middleware is nil")
	c.Schema = cmp.Or(c.Schema, defaultSchema)
	c.Concurrency = cmp.Or(c.Concurrency, 1)
	c.PollInterval = min(cmp.Or(c.PollInterval, defaultPollInterval), longestPollInterval)
	c.Grace = cmp.Or(c.Grace, defaultGrace)
	c.Logger = guard.Logger(cmp.Or(c.Logger, slog.Default()))
	if c.WorkerID == "" {
		var random [9]byte
		_, _ = rand.Read(random[:]) // never fails, says its documentation
		c.WorkerID = fmt.Sprintf("gw-%x", random)
	}
	return c, errors.Join(problems...)
}
