//go:build ha

package shards

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shard"
)

// createProxy makes the language of the package postgresql-15-plproxy, which is downloaded and not installed.
func createProxy(t *testing.T, f *fleet) (database string) {
	t.Helper()
	folder, err := os.MkdirTemp("", "gw-plproxy-") // the server, which has another user, reads it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"apt-get download -qq postgresql-15-plproxy", "dpkg-deb -x *.deb root", "chmod -R a+rX ."} {
		cmd := exec.CommandContext(t.Context(), "sh", "-c", command)
		cmd.Dir = folder
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", command, err, output)
		}
	}
	script := filepath.Join(folder, "root/usr/share/postgresql/15/extension/plproxy--2.10.0.sql")
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	admin := pgtest.Pool(t, f.servers[0].URL("postgres"))
	pgtest.Exec(t, admin, "create database router")
	database = f.servers[0].URL("router")
	library := filepath.Join(folder, "root/usr/lib/postgresql/15/lib/plproxy")
	kept := strings.Split(string(text), "\n")
	for i, line := range kept {
		if strings.HasPrefix(line, "\\") {
			kept[i] = ""
		}
	}
	router := pgtest.Pool(t, database)
	pgtest.Exec(t, router, strings.NewReplacer("MODULE_PATHNAME", library, "'plproxy'", "'"+library+"'").Replace(strings.Join(kept, "\n")))
	return database
}

func TestTheRouterAddsJobsFromSQLInTheirShards(t *testing.T) {
	f := newFleet(t)
	pool := pgtest.Pool(t, createProxy(t, f))
	text := strings.Replace(f.run("gw-migrate", "print", "--router", "--shards", f.mapPath), "create extension if not exists plproxy;", "", 1)
	pgtest.Exec(t, pool, text)

	pgtest.Exec(t, pool, "select graphile_worker.add_job('task', json_build_object('n', n), queue_name => 'q' || n) from generate_series(1, 40) as n")
	pgtest.Exec(t, pool, "select id from graphile_worker.add_job('task', queue_name => 'q', job_key => 'k', shard_key => 'tenant')")
	total := 0
	for i, s := range f.of.Shards {
		queues := pgtest.Value[[]string](t, f.pools[s.Name], "select coalesce(array_agg(queue_name), '{}') from graphile_worker.jobs where queue_name <> 'q'")
		total += len(queues)
		for _, queue := range queues {
			if shard.Slot(queue)/64 != i {
				t.Errorf("queue %s is in shard %s", queue, s.Name)
			}
		}
	}
	if total != 40 {
		t.Errorf("%d jobs were added", total)
	}
	if id := pgtest.Value[*int64](t, pool, "select graphile_worker.remove_job('k', 'tenant')"); id == nil {
		t.Error("the job under a key was not removed")
	}
	// What the documents say: the job of a caller that rolls back stays, and an old map is refused.
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "select graphile_worker.add_job('stays', job_key => 'stays')"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	home := f.of.Shards[shard.Slot("stays")/64].Name
	if n := pgtest.Value[int](t, f.pools[home], "select count(*) from graphile_worker.jobs where key = 'stays'"); n != 1 {
		t.Errorf("a rolled-back caller has left %d jobs", n)
	}
	if _, err := pool.Exec(t.Context(), "select graphile_worker.add_job('task', queue_name => 'q1', job_key => 'k1')"); err == nil || !strings.Contains(err.Error(), "GWSNS") {
		t.Errorf("a queue and a key of different slots: %v", err)
	}
	other := map[string]string{"a": "b", "b": "a", "c": "a", "d": "a"}[home]
	f.run("gw-run", "shards", "move", "--shards", f.mapPath, shard.Range(shard.Slot("stays"), shard.Slot("stays")).String(), other)
	if _, err := pool.Exec(t.Context(), "select graphile_worker.add_job('task', job_key => 'stays')"); err == nil || !strings.Contains(err.Error(), "but in shard "+other) {
		t.Errorf("a call with the map before a move: %v", err)
	}
}
