package settings

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

// forbidding are settings that forbid writing, end statements or transactions, or switch triggers off, and what the error of a
// program names, empty if it works all the same.
var forbidding = []struct{ name, value, since, says string }{
	{"default_transaction_read_only", "on", "12", "read-only"},
	{"statement_timeout", "1ms", "12", "statement timeout"},
	{"lock_timeout", "1ms", "12", ""},
	{"idle_in_transaction_session_timeout", "1ms", "12", ""},
	{"idle_session_timeout", "1ms", "14", ""},
	{"transaction_timeout", "1ms", "17", "transaction timeout"},
	{"session_replication_role", "replica", "12", ""},
}

func TestWhatForbidsWorkIsOneClearErrorAndLosesNoJob(t *testing.T) {
	for _, setting := range forbidding {
		t.Run(setting.name, func(t *testing.T) {
			t.Parallel()
			url := pgtest.Database(t)
			pool := pgtest.Pool(t, url) // its sessions have the usual settings
			if !pgtest.Value[bool](t, pool, `select exists (select from pg_settings where name = $1)`, setting.name) {
				t.Skipf("PostgreSQL has no %s before %s", setting.name, setting.since)
			}
			pgtest.Exec(t, pool, `create schema app; create table app.done (n integer primary key);
				create function app.work(payload json) returns void language sql as $$ insert into app.done values ((payload ->> 'n')::integer) $$;
				select graphile_worker.add_job('work', json_build_object('n', n)) from generate_series(1, 20) as n`)
			database := pgx.Identifier{pool.Config().ConnConfig.Database}.Sanitize()
			pgtest.Exec(t, pool, "alter database "+database+" set "+setting.name+" = '"+setting.value+"'")
			file := filepath.Join(t.TempDir(), "gw.yaml")
			if err := os.WriteFile(file, []byte("tasks:\n  work:\n    sql: app.work\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, args := range [][]string{
				{"add", "other", "{}"}, {"jobs"}, {"doctor"}, {"--once", "--config", file},
			} {
				output := limited(t, url, args...)
				t.Logf("gw-run %s: %s", strings.Join(args, " "), output)
				for _, trace := range []string{"panic:", "goroutine ", ".go:"} {
					if strings.Contains(output, trace) {
						t.Errorf("gw-run %s has a stack: %s", strings.Join(args, " "), output)
					}
				}
				if writes := args[0] != "jobs" && args[0] != "doctor"; writes && setting.says != "" &&
					!strings.Contains(output, setting.says) {
					t.Errorf("gw-run %s does not say %q: %s", strings.Join(args, " "), setting.says, output)
				}
			}
			pgtest.Exec(t, pool, "alter database "+database+" reset "+setting.name)
			pgtest.Exec(t, pool, `select graphile_worker.reschedule_jobs(array(select id from graphile_worker.jobs where locked_at is null), run_at => now())`)
			must(t, url, "gw-run", "--once", "--config", file)
			if n := pgtest.Value[int](t, pool, `select count(*) from app.done`); n != 20 {
				t.Errorf("%d of 20 jobs have run", n)
			}
		})
	}
}

// limited runs gw-run, a worker for ten seconds at most: while the server refuses its work, it tries again.
func limited(t *testing.T, url string, args ...string) string {
	t.Helper()
	most := time.Minute
	if args[0] == "--once" {
		most = 10 * time.Second
	}
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	cmd := exec.CommandContext(ctx, pgtest.Program(t, "gw-run"), args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append(os.Environ(), "DATABASE_URL="+url)
	output, _ := cmd.CombinedOutput()
	return string(output)
}
