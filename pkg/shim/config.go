package shim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/crontab"
)

// Config says how a worker works. Its zero value is a good start: one job at a time, from the schema graphile_worker.
type Config struct {
	// Schema is the schema that holds the queue, not quoted. Default: "graphile_worker". Set it when gw-migrate was given
	// another one.
	Schema string

	// Concurrency is the number of handlers that run at once. Default: 1. Raise it until the machine, or whatever the
	// handlers wait for, is busy; at most 100 000. The worker has its own few connections, however many handlers there are.
	Concurrency int

	// PollInterval is the longest an idle worker waits before it looks for jobs although nothing told it to, a day at most.
	// Default: 2 s. New jobs announce themselves and due times are known beforehand, so raising it costs no latency while
	// the listening connection lives; with PollOnly, or the setting notify = never, it is the latency.
	PollInterval time.Duration

	// Grace is how long running handlers may go on after the worker was told to stop, before their contexts end.
	// Default: 30 s. A negative Grace ends them at once. Keep it below the patience of whatever stops the process.
	Grace time.Duration

	// WorkerID names the worker in locked_by and in logs: 1 to 128 characters, different for every running worker.
	// Default: "gw-" and 18 random hexadecimal digits, new for each Worker. Set it to recognise a worker by its name.
	WorkerID string

	// PollOnly makes the worker do without its listening connection. Default: false. Set it where LISTEN cannot work,
	// as behind a pooler in transaction mode without a direct way to the server.
	PollOnly bool

	// ListenConfig is where the listening connection goes. Default: where the pool's connections go. Set it to the
	// server's own address when the pool goes through a pooler in transaction mode.
	ListenConfig *pgx.ConnConfig

	// ForbiddenFlags are flags whose jobs this worker leaves in the queue for others. Default: none. The option
	// [ForbiddenFlags] forbids some for a single task.
	ForbiddenFlags []string

	// ForbiddenFlagsFunc returns such flags in place of a list, and is asked before each claim, so that they may change: to
	// slow down one kind of job for a while, say. Its error, or a panic, puts the claim off. Keep it quick, as nothing is
	// claimed meanwhile; its context ends after 30 s, which it shares with the functions of single tasks. When it allows more
	// than before, jobs that wait are found at the next claim, after PollInterval at the latest. Default: none.
	ForbiddenFlagsFunc func(context.Context) ([]string, error)

	// Cron are recurring jobs, whose jobs the worker adds when they are due: [crontab.Item] values, [crontab.Text] and
	// [crontab.File] in any mix, or none. Of all workers that have the same, Graphile Worker's too, one adds each job.
	// Whatever it has itself, each worker also looks after the schedules that the SQL function cron_schedule has set up.
	// RunOnce looks after none. [Worker.SetCron] replaces them. Default: none.
	Cron []crontab.Source

	// Middleware is put around the handler of each task, the first outermost. Default: none.
	Middleware []Middleware

	// HandleSignals makes Run and RunOnce react to SIGINT and SIGTERM: the first is a Stop, a second one a Kill. Default:
	// false. Set it where nothing else in the program looks after signals.
	HandleSignals bool

	// Propagator hands what was sent along with a job, such as a trace, to the handler's context. Default: none. Clients
	// that send it need it, too. It costs one query for each batch of jobs.
	Propagator Propagator

	// Logger receives what the worker has to say, in lines that carry label, which is "worker", and worker_id. [Job.Logger]
	// is made of it, too. Default: slog.Default().
	Logger *slog.Logger

	// QuietSuccess drops the log line of each job that went well. Default: false. Set it on busy queues.
	QuietSuccess bool
}

const (
	defaultSchema       = "graphile_worker"
	defaultPollInterval = 2 * time.Second
	longestPollInterval = 24 * time.Hour
	defaultGrace        = 30 * time.Second
	maxWorkerIDLength   = 128
	maxConcurrency      = 100_000 // each handler that runs has a goroutine and a job in memory
)

// completed returns c with its defaults filled in, or everything that is wrong with it.
func (c Config) completed() (Config, error) {
	var problems []error
	if c.Concurrency < 0 {
		problems = append(problems, fmt.Errorf("concurrency is %d, must be at least 1", c.Concurrency))
	} else if c.Concurrency > maxConcurrency {
		problems = append(problems, fmt.Errorf("concurrency is %d, must be at most %d", c.Concurrency, maxConcurrency))
	}
	if c.PollInterval < 0 {
		problems = append(problems, fmt.Errorf("poll interval is %s, must be positive", c.PollInterval))
	}
	if n := len([]rune(c.WorkerID)); n > maxWorkerIDLength {
		problems = append(problems, fmt.Errorf("worker id has %d characters, must have at most %d", n, maxWorkerIDLength))
	}
	if c.PollOnly && c.ListenConfig != nil {
		problems = append(problems, errors.New("poll only and a listen config exclude each other"))
	}
	if c.ForbiddenFlags != nil && c.ForbiddenFlagsFunc != nil {
		problems = append(problems, errTwoForbiddenFlags)
	}
	if slices.ContainsFunc(c.Middleware, func(m Middleware) bool { return m == nil }) {
		problems = append(problems, errors.New("a middleware is nil"))
	}
	if c.Schema == "" {
		c.Schema = defaultSchema
	}
	if c.Concurrency == 0 {
		c.Concurrency = 1
	}
	if c.PollInterval == 0 {
		c.PollInterval = defaultPollInterval
	}
	c.PollInterval = min(c.PollInterval, longestPollInterval)
	if c.Grace == 0 {
		c.Grace = defaultGrace
	}
	if c.WorkerID == "" {
		c.WorkerID = newWorkerID()
	}
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c, errors.Join(problems...)
}
