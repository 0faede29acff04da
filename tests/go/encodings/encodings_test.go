// Package encodings runs jobs in databases with other encodings than UTF-8, and with roles that have a client_encoding of their own.
package encodings

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

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
