package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
)

func indexesOf(t *testing.T, m *migrate.Migrator) migrate.Indexes {
	t.Helper()
	status, err := m.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return status.Indexes
}

func tune(t *testing.T, m *migrate.Migrator, wanted migrate.Indexes) (changed bool) {
	t.Helper()
	changed, err := m.Tune(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	return changed
}

func TestTheIndexesOfAQueueWithoutNodeAreReversible(t *testing.T) {
	for _, schema := range []string{migrate.DefaultSchema, `Odd "name" $$ it's 100% (x)`} {
		database := pgtest.EmptyDatabase(t)
		up(t, database, migrate.Config{Schema: schema})
		conn := connect(t, database)
		before := shape(t, conn)
		var steps []migrate.Step
		m := newMigrator(t, database, migrate.Config{Schema: schema, OnStep: func(s migrate.Step) { steps = append(steps, s) }})
		if got := indexesOf(t, m); got != migrate.ForNode {
			t.Errorf("indexes after an install: %q", got)
		}
		if tune(t, m, migrate.ForNode) || len(steps) > 0 {
			t.Errorf("it changed the indexes of an install, by %v", steps)
		}
		if !tune(t, m, migrate.WithoutNode) || tune(t, m, migrate.WithoutNode) || len(steps) != 1 {
			t.Errorf("it did not change the indexes once, but by %v", steps)
		}
		if got := indexesOf(t, m); got != migrate.WithoutNode {
			t.Errorf("indexes without Node: %q", got)
		}
		if repaired, err := m.Repair(t.Context()); err != nil || len(repaired.Replaced)+len(repaired.Left) > 0 {
			t.Errorf("repair finds work: %v, %v", repaired, err)
		}
		if _, err := m.Up(t.Context()); err != nil {
			t.Error(err)
		}
		if !tune(t, m, migrate.ForNode) {
			t.Error("the way back changed nothing")
		}
		if found := differences(before, shape(t, conn)); found != nil {
			t.Errorf("differs after the way back: %s", strings.Join(found, "\n"))
		}
	}
}

func TestIndexesOfAnUnknownKindAreRefused(t *testing.T) {
	m := newMigrator(t, pgtest.Database(t), migrate.Config{})
	if _, err := m.Tune(t.Context(), "none"); err == nil || !strings.Contains(err.Error(), `indexes are "none"`) {
		t.Errorf("got %v", err)
	}
}

func TestASchemaThatIsNotUpToDateIsNotTuned(t *testing.T) {
	m := newMigrator(t, pgtest.EmptyDatabase(t), migrate.Config{})
	if _, err := m.Tune(t.Context(), migrate.WithoutNode); refusalOf(t, err).Reason != migrate.ReasonAbsent {
		t.Errorf("without a queue: %v", err)
	}
	database := pgtest.EmptyDatabase(t)
	up(t, database, migrate.Config{})
	m = newMigratorFrom(t, database, migrate.Config{}, withMigrations(t, "select 1"))
	if _, err := m.Tune(t.Context(), migrate.WithoutNode); !strings.Contains(refusalOf(t, err).Error(), "bring it up to date") {
		t.Errorf("an older schema: %v", err)
	}
}

func TestASchemaOfAnotherRoleIsNotTuned(t *testing.T) {
	role := newRole(t)
	database := pgtest.Database(t)
	m := newMigrator(t, as(t, database, role, ""), migrate.Config{})
	if _, err := m.Tune(t.Context(), migrate.WithoutNode); refusalOf(t, err).Reason != migrate.ReasonOwner {
		t.Errorf("got %v", err)
	}
}

func TestAQueueForWhichANodeWorkerListensIsNotTuned(t *testing.T) {
	database := pgtest.Database(t)
	m := newMigrator(t, database, migrate.Config{})
	node := connect(t, database)
	execute(t, node, `LISTEN "jobs:insert"; LISTEN "worker:migrate"; `) // as Graphile Worker writes it

	_, err := m.Tune(t.Context(), migrate.WithoutNode)

	refusal := refusalOf(t, err)
	if want := fmt.Sprintf("process %d listens for jobs", node.PgConn().PID()); refusal.Reason != migrate.ReasonNode ||
		!strings.Contains(refusal.Problem, want) || !strings.Contains(refusal.WayOut, "Stop them") {
		t.Errorf("no %q in: %v", want, refusal)
	}
	if got := indexesOf(t, m); got != migrate.ForNode {
		t.Errorf("indexes: %q", got)
	}
	execute(t, connect(t, database), "create schema other; create table other._private_jobs ()")
	if !tune(t, m, migrate.WithoutNode) {
		t.Error("a listener, which may be there for the other queue, has no effect, but nothing was changed")
	}
}

func TestTuningWaitsForLocksInShortTries(t *testing.T) {
	database := pgtest.Database(t)
	reader := connect(t, database)
	execute(t, reader, "begin; lock table graphile_worker._private_jobs in access share mode")
	var waits []string
	m := newMigrator(t, database, migrate.Config{LockTimeout: shortLockTimeout, OnStep: func(s migrate.Step) {
		if s.Err == nil {
			return
		}
		if waits = append(waits, s.String()); len(waits) == 2 {
			execute(t, reader, "rollback")
		}
	}})
	m.TryLocks(3)
	if !tune(t, m, migrate.WithoutNode) || len(waits) != 2 || !strings.Contains(waits[0], "tune waits for a lock of another session") {
		t.Errorf("waits: %q", waits)
	}

	execute(t, reader, "begin; lock table graphile_worker._private_jobs in access share mode")
	waits = nil
	m.TryLocks(2)
	_, err := m.Tune(t.Context(), migrate.ForNode)
	if err == nil || len(waits) != 1 || !strings.Contains(err.Error(), "nothing is changed") || !strings.Contains(err.Error(), "pg_stat_activity") {
		t.Errorf("waits: %q, error: %v", waits, err)
	}
	if got := indexesOf(t, m); got != migrate.WithoutNode {
		t.Errorf("indexes after giving up: %q", got)
	}
}

// An event trigger ends the session when all indexes have been changed, as a crash would do.
func TestAnInterruptedTuneLeavesTheQueueAsItWas(t *testing.T) {
	database := pgtest.Database(t)
	conn := connect(t, database)
	execute(t, conn, `
		create function crash() returns event_trigger language plpgsql as $$
		begin
		  if exists (select from pg_event_trigger_dropped_objects() as d where d.object_name = 'jobs_main_index') then
		    perform pg_terminate_backend(pg_backend_pid());
		  end if;
		end $$;
		create event trigger crash on sql_drop execute function crash()`)
	before := shape(t, conn)
	m := newMigrator(t, database, migrate.Config{})
	if _, err := m.Tune(t.Context(), migrate.WithoutNode); err == nil || !strings.Contains(err.Error(), "57P01") {
		t.Errorf("got %v", err)
	}
	if found := differences(before, shape(t, conn)); found != nil {
		t.Errorf("differs: %s", strings.Join(found, "\n"))
	}
	execute(t, conn, "drop event trigger crash; select graphile_worker.add_job('task', job_key => 'k')")
	if !tune(t, m, migrate.WithoutNode) {
		t.Error("it could not be repeated")
	}
}

// Producers and workers call the queue while the indexes change back and forth, in sessions whose plans are older than the
// indexes. No call fails, and no key is given to two jobs.
func TestNoCallFailsWhileTheIndexesChange(t *testing.T) {
	database := pgtest.Database(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var callers sync.WaitGroup
	var failures []error
	var mutex sync.Mutex
	for caller := range 4 {
		conn := connect(t, database)
		callers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				key := fmt.Sprint("k", n%3)
				for _, statement := range []string{
					"select graphile_worker.add_job('task', job_key => $1)",
					"select graphile_worker.add_jobs(array[row('task', '{}', null, null, null, $1, null, null)::graphile_worker.job_spec])",
					"select graphile_worker.add_job_once('task', key => $1, within => '1 millisecond')",
					fmt.Sprintf("select graphile_worker.complete_job('w%d', j.id) from graphile_worker.get_job('w%d') as j where $1 <> ''", caller, caller),
				} {
					_, err := conn.Exec(context.WithoutCancel(ctx), statement, key)
					if err != nil {
						mutex.Lock()
						failures = append(failures, err)
						mutex.Unlock()
					}
				}
			}
		})
	}
	m := newMigrator(t, database, migrate.Config{})
	for range 10 {
		tune(t, m, migrate.WithoutNode)
		tune(t, m, migrate.ForNode)
	}
	stop()
	callers.Wait()
	if len(failures) > 0 {
		t.Errorf("%d calls failed, such as: %v", len(failures), failures[0])
	}
}

func TestADumpKeepsTheIndexesOfAQueueWithoutNode(t *testing.T) {
	pgtest.OnOneVersion(t) // pg_dump may be older than the server
	from, to := pgtest.Database(t), pgtest.EmptyDatabase(t)
	tune(t, newMigrator(t, from, migrate.Config{}), migrate.WithoutNode)
	execute(t, connect(t, from), "select graphile_worker.add_job('task', job_key => 'k')")
	dump := filepath.Join(t.TempDir(), "dump")
	for _, args := range [][]string{
		{"pg_dump", "--format=custom", "--file=" + dump, "--dbname=" + from},
		{"pg_restore", "--exit-on-error", "--dbname=" + to, dump},
	} {
		if output, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args[0], err, output)
		}
	}
	m := newMigrator(t, to, migrate.Config{})
	if got := indexesOf(t, m); got != migrate.WithoutNode {
		t.Errorf("indexes: %q", got)
	}
	if got := texts(t, connect(t, to), "select (graphile_worker.add_job('task', job_key => 'k')).revision::text"); !slices.Equal(got, []string{"1"}) {
		t.Errorf("revision of the job with the key: %v", got)
	}
	tune(t, m, migrate.ForNode)
}

func TestKeysThatNoIndexMakesUniqueAreAWarning(t *testing.T) {
	database := pgtest.Database(t)
	m := newMigrator(t, database, migrate.Config{})
	execute(t, connect(t, database), "alter table graphile_worker._private_jobs drop constraint jobs_key_key1")
	status, err := m.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if status.Indexes != migrate.NoKeys || !strings.Contains(strings.Join(status.Warnings, "\n"), "gw-migrate tune creates it") {
		t.Errorf("indexes %q, warnings %q", status.Indexes, status.Warnings)
	}
	if !tune(t, m, migrate.ForNode) || indexesOf(t, m) != migrate.ForNode {
		t.Error("it was not mended")
	}
}

// The extension's script creates the tables, so a dump does not contain their indexes.
func TestAnExtensionIsTuned(t *testing.T) {
	s := newExtensionServer(t)
	s.install(t, migrate.DefaultSchema)
	from, to := s.database(t, "tuned"), s.database(t, "restored")
	conn := connect(t, from)
	execute(t, conn, "create extension graphile_worker cascade")
	m := newMigrator(t, from, migrate.Config{})
	if !tune(t, m, migrate.WithoutNode) || indexesOf(t, m) != migrate.WithoutNode {
		t.Error("nothing was changed")
	}
	execute(t, conn, "select graphile_worker.add_job('task', job_key => 'k')")
	if s.hasDump(t) {
		s.copyDatabase(t, from, to)
		restored := newMigrator(t, to, migrate.Config{})
		if got := indexesOf(t, restored); got != migrate.ForNode {
			t.Errorf("indexes after a restore: %q", got)
		}
		if !tune(t, restored, migrate.WithoutNode) {
			t.Error("the restored queue was not changed")
		}
	}
	if !tune(t, m, migrate.ForNode) {
		t.Error("the way back changed nothing")
	}
	execute(t, conn, "drop extension graphile_worker")
	if _, err := conn.Exec(t.Context(), "select from pg_namespace as n where n.nspname = 'graphile_worker'"); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		t.Error(err)
	}
}
