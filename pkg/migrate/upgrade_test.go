package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/pkg/shim"
)

// functionsVersion is the version from which on a worker finds the functions that it calls.
const functionsVersion = 3

// From every version, of which a run draws three, jobs are added while the database is migrated to the version of the
// next release, and no job is lost or run twice. If the version already has functions, a worker that was started before
// continues.
func TestEachOfOurVersionsIsUpgradedWhileJobsFlow(t *testing.T) {
	pgtest.OnOneVersion(t)
	later := laterRelease(t)
	var versions []int32
	for version := int32(1); version <= available(t); version++ {
		versions = append(versions, version)
	}
	for _, version := range pgtest.Draw(versions, 3) {
		t.Run(fmt.Sprintf("from version %d", version), func(t *testing.T) {
			t.Parallel()
			role, database := newRole(t), pgtest.EmptyDatabase(t)
			if _, err := newMigratorFrom(t, database, migrate.Config{}, upTo(t, version)).Up(t.Context()); err != nil {
				t.Fatal(err)
			}
			pool := pgtest.Pool(t, database)
			pgtest.Exec(t, pool, `create table done (n integer, worker text)`)
			pgtest.Exec(t, pool, `insert into graphile_worker._private_tasks (identifier) values ('note')`)
			if version >= functionsVersion {
				grantAll(t, newMigratorFrom(t, database, migrate.Config{}, upTo(t, version)), role)
			}
			pgtest.Exec(t, pool, `insert into graphile_worker._private_job_queues (queue_name) select 'q' || n from generate_series(0, 4) as n`)
			stopProducing := produce(t, pool, version >= functionsVersion)
			stopOlder := func() {}
			if version >= functionsVersion {
				stopOlder = startWorker(t, database, "older")
				pgtest.Await(t, pool, `select count(*) > 50 from done`)
			} else {
				pgtest.Await(t, pool, `select count(*) > 50 from graphile_worker._private_jobs`)
				expectNoWorker(t, database)
			}

			result, err := newMigratorFrom(t, database, migrate.Config{}, later).Up(t.Context())
			if err != nil || result.Before != version || result.After != available(t)+1 {
				t.Fatalf("from %d to %d: %v", result.Before, result.After, err)
			}

			if version < functionsVersion {
				grantAll(t, newMigratorFrom(t, database, migrate.Config{}, later), role)
			}
			expectAsInstalled(t, database, role, later)
			if version >= functionsVersion {
				before := pgtest.Value[int](t, pool, `select count(*) from done`)
				pgtest.Await(t, pool, `select count(*) > $1 from done where worker = 'older'`, before+50)
			}
			stopNewer := startWorker(t, database, "newer")
			pgtest.Await(t, pool, `select count(*) > 50 from done where worker = 'newer'`)
			total := stopProducing()
			pgtest.Await(t, pool, `select not exists (select from graphile_worker._private_jobs)`)
			stopOlder()
			stopNewer()
			expectEachOnce(t, pool, total)
		})
	}
}

// expectEachOnce expects each of the jobs from 1 to total to be done once.
func expectEachOnce(t *testing.T, pool *pgxpool.Pool, total int) {
	t.Helper()
	wrong := pgtest.Value[[]string](t, pool, `
		select coalesce(array_agg(w.n || ': ' || w.times), '{}')
		  from (select n, count(d.n) as times
		          from generate_series(1, $1::integer) as n
		          left join done as d using (n)
		         group by n
		        having count(d.n) <> 1) as w`, total)
	if len(wrong) > 0 {
		t.Errorf("of %d jobs there were not done once, but so often: %v", total, wrong)
	}
}

// grantAll gives a role what it takes to enqueue and to work.
func grantAll(t *testing.T, m *migrate.Migrator, role string) {
	t.Helper()
	if _, err := m.Grant(t.Context(), migrate.Grants{Producers: []string{role}, Workers: []string{role}}); err != nil {
		t.Fatal(err)
	}
}

// expectAsInstalled expects the functions of a database to be those of one where the later version was installed into
// nothing: the same functions with the same signatures, and with the same privileges for all roles.
func expectAsInstalled(t *testing.T, database, role string, later fs.FS) {
	t.Helper()
	fresh := pgtest.EmptyDatabase(t)
	m := newMigratorFrom(t, fresh, migrate.Config{}, later)
	if _, err := m.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	grantAll(t, m, role)
	upgraded, installed := connect(t, database), connect(t, fresh)
	for _, schema := range []string{"graphile_worker", "graphile_worker_api"} {
		if found := differences(functions(t, installed, schema), functions(t, upgraded, schema)); found != nil {
			t.Errorf("functions of %s that were installed and that came by an upgrade differ:\n%s", schema,
				strings.Join(found, "\n"))
		}
	}
}

// upTo returns our files without the migrations after a version.
func upTo(t *testing.T, version int32) fstest.MapFS {
	t.Helper()
	files := copyFiles(t)
	for name := range files {
		if strings.HasPrefix(name, "migrations/0") && name >= fmt.Sprintf("migrations/%06d", version+1) {
			delete(files, name)
		}
	}
	return files
}

// produce adds jobs numbered from 1, each fifth to a queue, until the function that it returns is called: it returns
// how many there were. Before there are functions it adds rows.
func produce(t *testing.T, pool *pgxpool.Pool, byFunction bool) (stop func() int) {
	t.Helper()
	add := `
		insert into graphile_worker._private_jobs (task_id, payload, job_queue_id)
		select t.id, json_build_object('n', $1::integer), q.id
		  from graphile_worker._private_tasks as t
		  left join graphile_worker._private_job_queues as q on $1 % 5 = 0 and q.queue_name = 'q' || $1 % 25 / 5
		 where t.identifier = 'note'`
	if byFunction {
		add = `
			select from graphile_worker.add_job('note', json_build_object('n', $1::integer), case when $1 % 5 = 0 then 'q' || $1 % 25 / 5 end)`
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		pause := time.NewTicker(3 * time.Millisecond)
		defer pause.Stop()
		n := 0
		for ; ctx.Err() == nil; <-pause.C {
			n++
			if _, err := pool.Exec(t.Context(), add, n); err != nil {
				t.Errorf("add job %d: %v", n, err)
				break
			}
		}
		ended <- n
	}()
	return func() int {
		cancel()
		return <-ended
	}
}

func newWorker(t *testing.T, pool *pgxpool.Pool, id string) *shim.Worker {
	t.Helper()
	w, err := shim.New(pool, shim.Config{WorkerID: id, Concurrency: 4, PollInterval: 50 * time.Millisecond,
		Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	shim.Handle(w, "note", func(ctx context.Context, p struct{ N int }, _ *shim.Job) error {
		// It takes a while, so that some run whenever something happens.
		_, err := pool.Exec(ctx, `insert into done (n, worker) select $1, $2 from pg_sleep(0.005)`, p.N, id)
		return err
	})
	return w
}

// startWorker runs a worker, with a pool of its own, until the function that it returns is called.
func startWorker(t *testing.T, database, id string) (stop func()) {
	t.Helper()
	return start(t, newWorker(t, pgtest.Pool(t, database), id))
}

// start runs a worker until the function that it returns is called.
func start(t *testing.T, w *shim.Worker) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		err := w.Run(ctx)
		if ctx.Err() == nil {
			t.Errorf("a worker has ended by itself: %v", err)
		}
		left <- err
	}()
	return func() {
		cancel()
		if err := <-left; err != nil {
			t.Errorf("a worker ended with: %v", err)
		}
	}
}

// expectNoWorker expects that a worker does not start, says what to do, and leaves the jobs as they are.
func expectNoWorker(t *testing.T, database string) {
	t.Helper()
	err := newWorker(t, pgtest.Pool(t, database), "none").Run(t.Context())
	if err == nil || errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "run gw-migrate first") {
		t.Errorf("a worker ended with: %v", err)
	}
	touched := texts(t, connect(t, database), `
		select j.id::text from graphile_worker._private_jobs as j where j.attempts > 0 or j.locked_at is not null or j.locked_by is not null`)
	if !slices.Equal(touched, nil) {
		t.Errorf("it has touched %v", touched)
	}
}
