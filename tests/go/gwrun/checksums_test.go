package gwrun

import (
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

var checksumsOf = flag.String("checksums.of", "net",
	"the `folder` of Go's library whose files get their checksums; empty for all of it, which takes minutes")

// The example runs on every file of a part of Go's library, with two workers, one of which is killed half-way.
func TestTheChecksumsExampleSurvivesTheDeathOfAWorker(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	want := checksums(t)
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	example := filepath.Join("..", "..", "..", "examples", "checksums")
	pgtest.Exec(t, pool, readFile(t, example, "schema.sql"))
	var rows [][]any
	for path := range want {
		rows = append(rows, []any{path})
	}
	_, err := pool.CopyFrom(t.Context(), pgx.Identifier{"checksums", "files"}, []string{"path"}, pgx.CopyFromRows(rows))
	if err != nil {
		t.Fatal(err)
	}

	worker := func() *process {
		return start(t, map[string]string{"DATABASE_URL": databaseURL, "PATH": serverPath(t)},
			"--tasks", filepath.Join(example, "tasks"), "-j", "4", "--quiet", "--log-format", "json")
	}
	survivor, victim := worker(), worker()
	victimID := victim.waitLog("worker started").WorkerID
	const done = "select count(sha256) >= $1 from checksums.files"
	pgtest.Await(t, pool, done, len(want)/2)
	victim.signal(syscall.SIGKILL)
	<-victim.ended
	pgtest.Exec(t, pool, "select graphile_worker.force_unlock_workers(array[$1])", victimID)
	pgtest.Await(t, pool, queueIsEmpty)
	survivor.signal(syscall.SIGTERM)
	survivor.wantExit(0)

	if victim.cmd.ProcessState.Success() {
		t.Error("the worker ended before it was killed")
	}
	got := storedChecksums(t, pool)
	if len(got) != len(want) {
		t.Errorf("%d files have a checksum, want %d", len(got), len(want))
	}
	for path, sum := range want {
		if got[path] != sum {
			t.Fatalf("the checksum of %s is %q, want %s", path, got[path], sum)
		}
	}
}

// checksums computes the checksums of all regular files of that part of Go's library, by path.
func checksums(t *testing.T) map[string]string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	sums := make(map[string]string)
	library := filepath.Join(strings.TrimSpace(string(root)), "src", *checksumsOf)
	err = filepath.WalkDir(library, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		sum := sha256.Sum256(content)
		sums[path] = hex.EncodeToString(sum[:])
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(sums) < 200 {
		t.Fatalf("%d files below %s, want hundreds", len(sums), library)
	}
	return sums
}

// storedChecksums returns the checksums that the task has stored.
func storedChecksums(t *testing.T, pool *pgxpool.Pool) map[string]string {
	t.Helper()
	sums := make(map[string]string)
	rows, err := pool.Query(t.Context(), "select path, sha256 from checksums.files where sha256 is not null")
	if err != nil {
		t.Fatal(err)
	}
	var path, sum string
	_, err = pgx.ForEachRow(rows, []any{&path, &sum}, func() error {
		sums[path] = sum
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

// serverPath returns PATH with the server's folder in front. Debian's psql is a Perl script that looks for the real psql, which
// takes several times as long as the rest of a job.
func serverPath(t *testing.T) string {
	t.Helper()
	path := os.Getenv("PATH")
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/psql")
	if err != nil {
		t.Fatal(err)
	}
	for _, psql := range found {
		path = filepath.Dir(psql) + string(os.PathListSeparator) + path
	}
	return path
}
