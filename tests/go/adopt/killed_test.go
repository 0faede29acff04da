package adopt_test

import (
	"fmt"
	"os/exec"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/tests/go/nodegw"
)

// gw-migrate is killed during each of our migrations. That migration is rolled back, the ones before it are kept, and the next run
// continues after them; the jobs do not change.
func TestAMigrationThatIsKilledIsFinishedByTheNext(t *testing.T) {
	pgtest.OnOneVersion(t)
	gwMigrate := pgtest.Program(t, "gw-migrate")
	fresh := pgtest.EmptyDatabase(t)
	up(t, fresh, migrate.Config{})
	want := shape(t, pgtest.Pool(t, fresh), "graphile_worker")
	for version, c := range []struct {
		object string // created by the migration; the program is killed after it
		adopts bool
	}{
		{"graphile_worker._private_known_crontabs", false},
		{"graphile_worker._gw_schedules", true},
		{"graphile_worker.run_cron(%", true},
		{"_gw_contexts_put on graphile_worker._gw_job_context", true},
	} {
		t.Run(fmt.Sprintf("in version %d", version+1), func(t *testing.T) {
			t.Parallel()
			database := pgtest.EmptyDatabase(t)
			pool := pgtest.Pool(t, database)
			var before []string
			args := []string{"--connection", database}
			if c.adopts {
				nodegw.Utils(t, nodegw.V18, database, "",
					nodegw.Call{"addJob", "greet", map[string]any{"n": 1},
						map[string]any{"queueName": "q", "jobKey": "k"}},
					nodegw.Call{"addJob", "greet", map[string]any{"n": 2},
						map[string]any{"queueName": "q", "flags": []string{"f"}}},
				)
				before = contents(t, pool, "graphile_worker")
			}

			letGo := holdAfter(t, pool, c.object)
			cmd := exec.Command(gwMigrate, args...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			pgtest.Await(t, pool, "select count(*) = 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'")
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
			_ = cmd.Wait()
			letGo()
			pgtest.Await(t, pool, "select count(*) = 0 from pg_stat_activity where datname = current_database() and application_name = 'gw-migrate'")
			execute(t, pool, "drop event trigger hold; drop function hold")

			got := texts(t, pool, `select c.relname from pg_class as c where c.relname in ('_gw_schedules', '_private_known_crontabs')
				union all select p.proname from pg_proc as p where p.proname = 'get_job_batch'
				union all select g.tgname from pg_trigger as g where g.tgname = '_gw_queue_freed'`)
			if n := len(got); n != version {
				t.Errorf("when it was killed there were %q", got)
			}
			if at := texts(t, pool, "select version::text from graphile_worker._gw_schema_version"); !slices.Equal(at,
				[]string{fmt.Sprint(version)}) {
				t.Errorf("the schema is at %q", at)
			}
			run(t, gwMigrate, database, nil, 0, fmt.Sprintf("apply %06d", version+1), "is now at version")
			run(t, gwMigrate, database, []string{"status", "--check"}, 0, "state      current")
			if found := differences(want, shape(t, pool, "graphile_worker")); found != nil {
				t.Errorf("a fresh install differs: %v", found)
			}
			if c.adopts {
				if found := differences(before, contents(t, pool, "graphile_worker")); found != nil {
					t.Errorf("tables: %v", found)
				}
			}
		})
	}
}

// holdAfter blocks any session that creates an object until letGo is called.
func holdAfter(t *testing.T, pool *pgxpool.Pool, object string) (letGo func()) {
	t.Helper()
	execute(t, pool, fmt.Sprintf(`
		create function hold() returns event_trigger language plpgsql as $$
		begin
		  if exists (select from pg_event_trigger_ddl_commands() as c where c.object_identity like '%s') then
		    perform pg_advisory_xact_lock_shared(1);
		  end if;
		end $$;
		create event trigger hold on ddl_command_end execute function hold()`, object))
	conn, err := pool.Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), "select pg_advisory_lock(1)"); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := conn.Exec(t.Context(), "select pg_advisory_unlock(1)"); err != nil {
			t.Error(err)
		}
		conn.Release()
	}
}
