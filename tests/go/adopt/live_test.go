package adopt_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/pkg/shim"
	"github.com/gwsql/gw/tests/go/nodegw"
)

func TestNoJobIsLostOrRunTwiceWhenADatabaseIsAdoptedAtWork(t *testing.T) {
	database := pgtest.EmptyDatabase(t)
	pool := pgtest.Pool(t, database)
	execute(t, pool, "create table done (n integer, worker text)")
	node := nodegw.Start(t, nodegw.Options{
		DatabaseURL: database, Concurrency: 4, PollInterval: 50 * time.Millisecond,
		Tasks: map[string]string{"note": `await helpers.query("insert into done (n, worker) values ($1, 'node')", [payload.n])`},
	})
	producers := startProducers(t, pool)
	pgtest.Await(t, pool, "select count(*) > 100 from done")

	up(t, database, migrate.Config{Adopt: true})

	pgtest.Await(t, pool, "select count(*) > $1 from done", producers.count()+100)
	ours := startOurs(t, database)
	pgtest.Await(t, pool, "select count(*) > 100 from done where worker = 'gw'")
	total := producers.stop()
	pgtest.Await(t, pool, "select not exists (select from graphile_worker._private_jobs)")
	node.Stop()
	ours()

	wrong := texts(t, pool, `
		select format('job %s was done %s times', n, count(d.n))
		  from generate_series(1, $1::integer) as n
		  left join done as d using (n)
		 group by n
		having count(d.n) <> 1`, total)
	if len(wrong) > 0 {
		t.Errorf("of %d jobs: %s", total, strings.Join(wrong, ", "))
	}
	if output := node.Output(); strings.Contains(output, "ERROR") || strings.Contains(output, "Failed task") {
		t.Errorf("Node complains: %s", output)
	}
	t.Logf("%d jobs: %v", total, texts(t, pool, "select worker || ' ' || count(*) from done group by worker"))
}

func TestOldWorkersStopWhenRevision18IsTakenOver(t *testing.T) {
	database := pgtest.EmptyDatabase(t)
	old := nodegw.Start(t, nodegw.Options{Version: nodegw.V16, DatabaseURL: database, Tasks: map[string]string{"note": ""}})
	up(t, database, migrate.Config{Adopt: true, From18: true})
	old.Wait("breaking")
	if _, err := nodegw.TryUtils(t, nodegw.V16, database, ""); err == nil || !strings.Contains(err.Error(), "breaking migration 19") {
		t.Errorf("0.16 starts again: %v", err)
	}
	nodegw.Start(t, nodegw.Options{Version: nodegw.V17, DatabaseURL: database, Tasks: map[string]string{"note": ""}}).Stop()
}

// crowd is a few producers that add jobs numbered from 1.
type crowd struct {
	t      *testing.T
	mu     sync.Mutex
	total  int
	cancel context.CancelFunc
	ended  sync.WaitGroup
}

func startProducers(t *testing.T, pool *pgxpool.Pool) *crowd {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c := &crowd{t: t, cancel: cancel}
	t.Cleanup(cancel)
	for range 2 {
		c.ended.Go(func() {
			for ctx.Err() == nil {
				c.add(pool)
			}
		})
	}
	return c
}

// add adds a plain job, one in a queue, or one under a key that no other has.
func (c *crowd) add(pool *pgxpool.Pool) {
	c.mu.Lock()
	c.total++
	n := c.total
	c.mu.Unlock()
	_, err := pool.Exec(c.t.Context(), `
		select from graphile_worker.add_job('note', json_build_object('n', $1::integer),
		  queue_name => case when $1 % 5 = 0 then 'q' || $1 % 50 end,
		  job_key    => case when $1 % 7 = 0 then 'k' || $1 end)`, n)
	if err != nil && !errors.Is(err, context.Canceled) {
		c.t.Errorf("add job %d: %v", n, err)
	}
}

func (c *crowd) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.total
}

// stop returns how many jobs there were.
func (c *crowd) stop() int {
	c.cancel()
	c.ended.Wait()
	return c.total
}

// startOurs runs a worker of ours until the function that it returns is called.
func startOurs(t *testing.T, database string) (stop func()) {
	t.Helper()
	pool := pgtest.Pool(t, database)
	worker, err := shim.New(pool, shim.Config{Concurrency: 4, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	shim.Handle(worker, "note", func(ctx context.Context, p struct{ N int }, _ *shim.Job) error {
		_, err := pool.Exec(ctx, "insert into done (n, worker) values ($1, 'gw')", p.N)
		return err
	})
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() { left <- worker.Run(ctx) }()
	return func() {
		cancel()
		if err := <-left; err != nil {
			t.Errorf("our worker: %v", err)
		}
	}
}
