package gotest

import (
	"context"
	"io/fs"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/pkg/shim"
	"github.com/gwsql/gw/sql"
)

// The name of the schema is in the text of the functions, so it must not be part of a format.
func TestNoFormatHasTheNameOfTheSchema(t *testing.T) {
	// A call of format() or a message of RAISE up to the end of its first literal.
	format := regexp.MustCompile(`(?is)(?:\bformat\(\s*|\braise\s+\w+\s+)e?(?:'(?:\{\{.*?\}\}|''|[^'])*'|\$(\w*)\$.*?\$\w*\$)`)
	seen := 0
	err := fs.WalkDir(sql.FS, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".sql") {
			return err
		}
		text, err := fs.ReadFile(sql.FS, path)
		if err != nil {
			return err
		}
		for _, found := range format.FindAllString(string(text), -1) {
			seen++
			if strings.Contains(found, ".schema") {
				t.Errorf("%s: %s", path, found)
			}
		}
		return nil
	})
	if err != nil || seen < 100 {
		t.Errorf("%d formats are found, %v", seen, err)
	}
}

func TestAQueueWorksWhateverTheNameOfItsSchema(t *testing.T) {
	for _, schema := range []string{"100%", "q%s", "%I", "%1$L %%", `"%L" 'a' $$ \ é`, "{{.schema}}", "Select"} {
		t.Run(schema, func(t *testing.T) {
			t.Parallel()
			url := pgtest.EmptyDatabase(t)
			config, err := pgx.ParseConfig(url)
			if err != nil {
				t.Fatal(err)
			}
			migrator, err := migrate.New(config, migrate.Config{Schema: schema})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := migrator.Up(t.Context()); err != nil {
				t.Fatal(err)
			}
			status, err := migrator.Status(t.Context())
			if err != nil || status.State != migrate.Current || len(status.Changed()) > 0 {
				t.Errorf("status: %+v, %v", status, err)
			}
			pool := pgtest.Pool(t, url)
			in := func(text string) string {
				return strings.ReplaceAll(text, "S.",
					pgx.Identifier{schema}.Sanitize()+".")
			}
			exec := func(text string) {
				t.Helper()
				if _, err := pool.Exec(t.Context(), in(text), pgx.QueryExecModeSimpleProtocol); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
			}
			exec(`select S.keep_task('task', '40 days', true, true), S.set_limit('limit', array['task'], max_running => 10)`)
			exec(`select S.pause(queue => 'q'), S.cron_schedule('c', '* * * * *', 'task'), S.add_job_once('task', key => 'k')`)
			client := shim.NewClient(pool, shim.ClientConfig{Schema: schema})
			job, err := client.Add(t.Context(), "task", map[string]int{"a": 1}, nil)
			if err != nil {
				t.Fatal(err)
			}
			worker, err := shim.New(pool, shim.Config{Schema: schema, Concurrency: 2,
				Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			worker.Handle("task", func(context.Context, *shim.Job) error { return nil })
			if err := worker.RunOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
			// The records of an earlier slot are packed by the sweep.
			exec(`update S._gw_ended set slot = (slot + 1) % 3, ended_at = ended_at - interval '20 minutes'`)
			exec(`update S._gw_turns set last_at = '-infinity'; select S.stale_sweep(); select S.cleanup(array['GC_JOB_QUEUES', 'GC_TASK_IDENTIFIERS'])`)
			if n := pgtest.Value[int](t, pool, in(`select count(*) from S._gw_history`)); n == 0 {
				t.Error("the sweep has packed no records")
			}
			if attempts, err := client.JobHistory(t.Context(), job.ID); err != nil || len(attempts) != 1 {
				t.Errorf("history: %+v, %v", attempts, err)
			}
			exec(`select S.run_cron('[]', now() - interval '2 minutes'), S.heartbeat('w'), S.reset_stale_locks()`)
			if failed := pgtest.Value[string](t, pool, in(`
				select coalesce(string_agg(concat_ws(': ', d.finding, d.subject, d.detail), '; '), '') from S.doctor() as d
				 where d.finding in ('not examined', 'failed work')`)); failed != "" {
				t.Errorf("doctor: %s", failed)
			}
			exec(`select S._gw_grant_statements()`)
		})
	}
}
