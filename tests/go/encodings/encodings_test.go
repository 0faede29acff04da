// Package encodings runs jobs in databases with other encodings than UTF-8, and with roles that have a client_encoding of their own.
package encodings

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/pkg/shim"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// newDatabase returns the URL of a database with a queue and an encoding.
func newDatabase(t *testing.T, encoding string) string {
	t.Helper()
	url := pgtest.EncodedDatabase(t, encoding)
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	migrator, err := migrate.New(config, migrate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrator.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	return url
}

// run runs gw-run.
func run(t *testing.T, url string, args ...string) (output string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), pgtest.Program(t, "gw-run"), args...)
	cmd.Env = append(os.Environ(), "DATABASE_URL="+url)
	text, err := cmd.CombinedOutput()
	return string(text), err
}

// work returns the payloads of the jobs that a worker on the pool finds.
func work(t *testing.T, pool *pgxpool.Pool) (payloads []string) {
	t.Helper()
	w, err := shim.New(pool, shim.Config{Concurrency: 1})
	if err != nil {
		t.Fatal(err)
	}
	w.Handle("greet", func(_ context.Context, job *shim.Job) error {
		payloads = append(payloads, string(job.Payload))
		return fmt.Errorf("no luck with %s", job.Payload)
	})
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	return payloads
}

const payload = `{"name":"é"}`

func TestTextsComeThroughUnchangedWhateverTheEncodingOfTheDatabase(t *testing.T) {
	for _, encoding := range []string{"LATIN1", "SQL_ASCII", "UTF8"} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			url := newDatabase(t, encoding)
			if output, err := run(t, url, "add", "greet", payload); err != nil {
				t.Fatalf("%v: %s", err, output)
			}
			if _, err := shim.QuickAdd(t.Context(), url, "greet", map[string]string{"name": "é"}, nil); err != nil {
				t.Fatal(err)
			}
			pool, err := shim.Open(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			defer pool.Close()
			if got := work(t, pool); len(got) != 2 || got[0] != payload || got[1] != payload {
				t.Errorf("the handler got %q", got)
			}
			output, err := run(t, url, "jobs")
			if err != nil || strings.Count(output, "no luck with "+payload) != 2 {
				t.Errorf("%v: %s", err, output)
			}
		})
	}
}

func TestAProgramGetsItsPayloadAsUTF8(t *testing.T) {
	t.Parallel()
	url := newDatabase(t, "LATIN1")
	tasks := t.TempDir()
	script := "#!/bin/sh\ncat > '" + tasks + "/got.txt'\n"
	if err := os.WriteFile(filepath.Join(tasks, "greet"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if output, err := run(t, url, "add", "greet", payload); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if output, err := run(t, url, "--tasks", tasks, "--once"); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	if got, err := os.ReadFile(filepath.Join(tasks, "got.txt")); err != nil || !strings.Contains(string(got), payload) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestWhatTheDatabaseCannotStoreIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	url := newDatabase(t, "LATIN1")
	output, err := run(t, url, "add", "greet", `{"name":"日本"}`)
	if err == nil || !strings.Contains(output, `has no equivalent in encoding "LATIN1"`) {
		t.Errorf("%v: %s", err, output)
	}
}

// The user's pool has a role with a client_encoding; the worker's own connections do not use it.
func TestTheEncodingOfTheRoleIsNotThatOfTheWorker(t *testing.T) {
	t.Parallel()
	url := newDatabase(t, "UTF8")
	pool := pgtest.Pool(t, url)
	pgtest.Exec(t, pool, `select graphile_worker.add_job('greet', '{"name":"日本"}')`)
	pgtest.Exec(t, pool, `alter database `+pgx.Identifier{pool.Config().ConnConfig.Database}.Sanitize()+` set client_encoding = 'LATIN1'`)
	pool.Reset()
	if got := work(t, pool); len(got) != 1 || got[0] != `{"name":"日本"}` {
		t.Errorf("the handler got %q", got)
	}
	_, err := shim.NewClient(pool, shim.ClientConfig{}).Add(t.Context(), "greet", map[string]string{"name": "é"}, nil)
	if err == nil || !strings.Contains(err.Error(), "client_encoding") {
		t.Errorf("a client over a connection in LATIN1: %v", err)
	}
}

// What people and handlers write may have characters that the database lacks, or that none can store: it is stored with escapes, as
// the errors of jobs are.
func TestReasonsNotesAndResultsAreStoredWhateverTheirCharacters(t *testing.T) {
	const text = "é\x00😀%s'"
	for encoding, want := range map[string]string{"LATIN1": `é\U0001f600%s'`, "UTF8": "é😀%s'"} {
		t.Run(encoding, func(t *testing.T) {
			t.Parallel()
			url := newDatabase(t, encoding)
			separator := "?"
			if strings.Contains(url, "?") {
				separator = "&"
			}
			pool := pgtest.Pool(t, url+separator+"client_encoding=UTF8")
			db, err := sql.Open("pgx", url+separator+"client_encoding=UTF8")
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = db.Close() }()
			add := func() int64 {
				return pgtest.Value[int64](t, pool,
					`select id from graphile_worker.add_job('greet', job_key => 'k' || random())`)
			}
			stored := map[string]string{}
			lastError := func(what string, id int64, err error) {
				t.Helper()
				if err != nil {
					t.Errorf("%s: %v", what, err)
				}
				stored[what] = pgtest.Value[string](t, pool,
					`select coalesce(last_error, '') from graphile_worker.jobs where id = $1`, id)
			}
			pause := func(what string, err error) {
				t.Helper()
				if err != nil {
					t.Errorf("%s: %v", what, err)
				}
				stored[what] = pgtest.Value[string](t, pool,
					`select coalesce(string_agg(reason, '|'), '') from graphile_worker.list_pauses()`)
				pgtest.Exec(t, pool, `select graphile_worker.resume('other')`)
			}
			for what, client := range map[string]*shim.Client{
				"pgx": shim.NewClient(pool, shim.ClientConfig{}), "database/sql": shim.NewSQLClient(db,
					shim.ClientConfig{}),
			} {
				id := add()
				_, err = client.Cancel(t.Context(), text, id)
				lastError(what+" Cancel", id, err)
				id = add()
				_, err = client.PermanentlyFail(t.Context(), text, id)
				lastError(what+" PermanentlyFail", id, err)
				pause(what+" Pause", client.Pause(t.Context(), shim.PauseTarget{Task: "other"},
					&shim.PauseOptions{Reason: text}))
			}
			argument := strings.ReplaceAll(text, "\x00", "") // no argument of a program has one
			id := add()
			output, err := run(t, url, "cancel", fmt.Sprint(id), "--reason", argument)
			lastError("gw-run cancel: "+output, id, err)
			id = add()
			output, err = run(t, url, "fail", fmt.Sprint(id), "--reason", argument)
			lastError("gw-run fail: "+output, id, err)
			output, err = run(t, url, "pause", "--task", "other", "--reason", argument)
			pause("gw-run pause: "+output, err)
			for what, got := range stored {
				if got != want {
					t.Errorf("%s: %q, want %q", what, got, want)
				}
			}

			pgtest.Exec(t, pool, `delete from graphile_worker._private_jobs; select graphile_worker.keep_task('greet', '1 day', results => true)`)
			id = add()
			pgtest.Exec(t, pool, `select graphile_worker.expect_result($1::bigint)`, id)
			w, err := shim.New(pool, shim.Config{Concurrency: 1})
			if err != nil {
				t.Fatal(err)
			}
			w.Handle("greet", func(ctx context.Context, job *shim.Job) error {
				step, err := shim.Step(ctx, job, "step", func(context.Context) (string, error) { return text, nil })
				if err != nil || step != text {
					return fmt.Errorf("the step returned %q: %w", step, err)
				}
				return errors.Join(job.Progress(1, text), job.SetResult(map[string]string{"é": text}))
			})
			if err := w.RunOnce(t.Context()); err != nil {
				t.Fatal(err)
			}
			got := pgtest.Value[string](t, pool,
				`select concat_ws(' ', state, error, result) from graphile_worker.job_results(array[$1::bigint])`, id)
			result := map[string]string{"UTF8": `{"é":"é\u0000😀%s'"}`,
				"LATIN1": `{"\u00e9":"\u00e9\u0000\ud83d\ude00%s'"}`}[encoding]
			if got != "completed "+result {
				t.Errorf("the result is %s, want %s", got, result)
			}
		})
	}
}
