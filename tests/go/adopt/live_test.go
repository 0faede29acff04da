package adopt_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
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
	pgtest.OnOneVersion(t)
	for _, version := range []nodegw.Version{nodegw.V18, nodegw.V17} {
		t.Run(string(version), func(t *testing.T) {
			t.Parallel()
			adoptAtWork(t, version)
		})
	}
}

func adoptAtWork(t *testing.T, version nodegw.Version) {
	database := pgtest.EmptyDatabase(t)
	pool := pgtest.Pool(t, database)
	execute(t, pool, "create table done (n integer, worker text)")
	node := nodegw.Start(t, nodegw.Options{
		Version: version, DatabaseURL: database, Concurrency: 4, PollInterval: 50 * time.Millisecond,
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

	eachOnce(t, pool, total)
	if output := node.Output(); strings.Contains(output, "ERROR") || strings.Contains(output, "Failed task") {
		t.Errorf("Node complains: %s", output)
	}
	t.Logf("%d jobs: %v", total, texts(t, pool, "select worker || ' ' || count(*) from done group by worker"))
}

// eachOnce checks that each of the jobs from 1 to total was done once.
func eachOnce(t *testing.T, pool *pgxpool.Pool, total int) {
	t.Helper()
	wrong := texts(t, pool, `
		select format('job %s was done %s times', n, count(d.n))
		  from generate_series(1, $1::integer) as n
		  left join done as d using (n)
		 group by n
		having count(d.n) <> 1`, total)
	if len(wrong) > 0 {
		t.Errorf("of %d jobs: %s", total, strings.Join(wrong, ", "))
	}
}

// Such a worker finishes its running jobs, and leaves the other jobs unchanged.
func TestOldWorkersStopWhenRevision18IsTakenOver(t *testing.T) {
	pgtest.OnOneVersion(t)
	database := pgtest.EmptyDatabase(t)
	pool := pgtest.Pool(t, database)
	execute(t, pool, `create table started (n integer); create table go_on (); create table done (n integer, worker text)`)
	old := nodegw.Start(t, nodegw.Options{Version: nodegw.V16, DatabaseURL: database, Tasks: map[string]string{"note": `
		await helpers.query("insert into started values ($1)", [payload.n]);
		while ((await helpers.query("select from go_on")).rowCount === 0) await new Promise((again) => setTimeout(again, 20));
		await helpers.query("insert into done (n, worker) values ($1, 'node')", [payload.n]);`}})
	execute(t, pool, `
		select graphile_worker.add_job('note', json_build_object('n', n), case when n % 2 = 0 then 'q' end, job_key => 'k' || n)
		  from generate_series(1, 6) as n`)
	pgtest.Await(t, pool, "select count(*) = 1 from started")
	const waiting = `
		select to_jsonb(j)::text from graphile_worker._private_jobs as j where j.locked_at is null order by j.id`
	before := texts(t, pool, waiting)

	up(t, database, migrate.Config{Adopt: true, From18: true})

	old.Wait("breaking")
	execute(t, pool, "insert into go_on default values")
	if code := old.ExitCode(); code != 57 {
		t.Errorf("it exits with %d", code)
	}
	if after := texts(t, pool, waiting); len(before) != 5 || !slices.Equal(before, after) {
		t.Errorf("the waiting jobs have changed: %q", differences(before, after))
	}
	if done := texts(t, pool, "select d.n::text from done as d join started as s using (n)"); len(done) != 1 {
		t.Errorf("of its running jobs, it has completed %q", done)
	}
	if _, err := nodegw.TryUtils(t, nodegw.V16, database, ""); err == nil ||
		!strings.Contains(err.Error(), "breaking migration 19") {
		t.Errorf("0.16 starts again: %v", err)
	}
	nodegw.Start(t, nodegw.Options{Version: nodegw.V17, DatabaseURL: database,
		Tasks: map[string]string{"other": ""}}).Stop()
	ours := startOurs(t, database)
	pgtest.Await(t, pool, "select not exists (select from graphile_worker._private_jobs)")
	ours()
	eachOnce(t, pool, 6)
}

// crowd is some producers that add jobs numbered from 1.
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

// add adds a plain job, a job in a queue, or a job with a unique key.
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

// stop stops the producers and returns the number of jobs.
func (c *crowd) stop() int {
	c.cancel()
	c.ended.Wait()
	return c.total
}

// startOurs runs a worker of gw until the function that it returns is called.
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
