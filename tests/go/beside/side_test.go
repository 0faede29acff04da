package beside

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
	"github.com/gwsql/gw/tests/go/nodegw"
)

// nodePoll is the poll interval of Node workers. Node's default of two seconds would make the tests slower.
const nodePoll = 100 * time.Millisecond

// side is one of the two workers, for tests that treat both alike.
type side struct {
	name  string // as in the table `ran`
	start func(q *queue, tasks ...string) (stop func())
	// add adds a job through the functions, from this side's language, and returns its id.
	add func(q *queue, task, key string) int64
}

var (
	nodeSide = side{
		name:  "node",
		start: func(q *queue, tasks ...string) func() { return q.node(nodegw.Options{}, tasks...).Stop },
		add: func(q *queue, task, key string) int64 {
			return q.addFromNode(task, map[string]any{"by": "node"}, map[string]any{"jobKey": key})
		},
	}
	ourSide = side{
		name:  "gw",
		start: func(q *queue, tasks ...string) func() { return q.ours(shim.Config{}, tasks...) },
		add: func(q *queue, task, key string) int64 {
			return q.add(task, fmt.Sprintf(`'{"by":"gw"}', job_key => '%s'`, key))
		},
	}
)

// eachWay runs a test twice: with Node as the first and ours as the second side, and the other way round.
func eachWay(t *testing.T, test func(q *queue, first, second side)) {
	t.Run("Node first", func(t *testing.T) {
		t.Parallel()
		test(newQueue(t), nodeSide, ourSide)
	})
	t.Run("ours first", func(t *testing.T) {
		t.Parallel()
		test(newQueue(t), ourSide, nodeSide)
	})
}

// node starts a Graphile Worker whose tasks call the function `job`.
func (q *queue) node(o nodegw.Options, tasks ...string) *nodegw.Worker {
	q.t.Helper()
	o.DatabaseURL = q.url
	if o.PollInterval == 0 {
		o.PollInterval = nodePoll
	}
	o.Tasks = make(map[string]string)
	for _, task := range tasks {
		o.Tasks[task] = `
			const { id, task_identifier } = helpers.job;
			await helpers.query("select job('node', $1, $2, $3)", [id, task_identifier, JSON.stringify(payload)]);`
	}
	return nodegw.Start(q.t, o)
}

// ours starts a worker of gw, in this process, whose tasks call the function `job`. It polls once an hour only.
func (q *queue) ours(cfg shim.Config, tasks ...string) (stop func()) {
	q.t.Helper()
	cfg.PollInterval = time.Hour
	cfg.Logger = slog.New(slog.NewTextHandler(q.t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	worker, err := shim.New(pgtest.Pool(q.t, withParameter(q.t, q.url, "pool_max_conns", "20")), cfg)
	if err != nil {
		q.t.Fatal(err)
	}
	for _, task := range tasks {
		worker.Handle(task, q.handle)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	stopped := false
	stop = func() {
		q.t.Helper()
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			q.t.Errorf("our worker ended: %v", err)
		}
	}
	q.t.Cleanup(func() {
		if q.t.Failed() {
			worker.Kill()
		}
		stop()
	})
	return stop
}

// handle is the task of our side. As in JavaScript, the stored error is only the message.
func (q *queue) handle(ctx context.Context, job *shim.Job) error {
	_, err := q.pool.Exec(ctx, "select job('gw', $1, $2, $3::text::json)", job.ID, job.TaskIdentifier,
		string(job.Payload))
	if raised := (*pgconn.PgError)(nil); errors.As(err, &raised) {
		return errors.New(raised.Message)
	}
	return err
}
