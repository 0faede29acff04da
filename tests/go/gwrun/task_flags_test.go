package gwrun

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

const isDone = "select not exists (select from graphile_worker._private_jobs where id = $1)"

// addFlagged adds a job of a task with a flag and returns its id.
func addFlagged(t *testing.T, pool *pgxpool.Pool, task, flag string) int64 {
	t.Helper()
	return pgtest.Value[int64](t, pool, "select id from graphile_worker.add_job($1, flags => array[$2])", task, flag)
}

// expectWaiting checks that a job waits and was never tried.
func expectWaiting(t *testing.T, pool *pgxpool.Pool, id int64) {
	t.Helper()
	if !pgtest.Value[bool](t, pool, "select exists (select from graphile_worker._private_jobs where id = $1 and attempts = 0)", id) {
		t.Errorf("job %d was claimed", id)
	}
}

func TestForbiddenFlagsOfATaskFollowAQueryOfItsOwn(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	dir := configured(t, "forbidden_flags: [never]\ntasks:\n  a:\n    forbidden_flags: {query: select flag from paused}\n  b: {forbidden_flags: [big]}\n",
		map[string]string{"a": "exit 0", "b": "exit 0"})
	p := work(t, databaseURL, filepath.Join(dir, "tasks"), "--poll-interval", "50ms")
	p.wantExit(1)
	if want := `gw.yaml:4:22: ask for forbidden flags: ERROR: relation "paused" does not exist`; !strings.Contains(p.stderr.String(), want) {
		t.Errorf("stderr has no %q", want)
	}

	pgtest.Exec(t, pool, "create table paused as select 'slow' as flag")
	p = work(t, databaseURL, filepath.Join(dir, "tasks"), "--poll-interval", "50ms")
	slow, big, never := addFlagged(t, pool, "a", "slow"), addFlagged(t, pool, "b", "big"),
		addFlagged(t, pool, "a", "never")
	for _, other := range []struct{ task, flag string }{{"a", "big"}, {"b", "slow"}} {
		pgtest.Await(t, pool, isDone, addFlagged(t, pool, other.task, other.flag))
	}
	for _, id := range []int64{slow, big, never} {
		expectWaiting(t, pool, id)
	}
	pgtest.Exec(t, pool, "update paused set flag = 'fast'")
	pgtest.Await(t, pool, isDone, slow)
	fast := addFlagged(t, pool, "a", "fast")

	pgtest.Exec(t, pool, "alter table paused rename to resumed")
	if line := p.waitLog("query for forbidden flags failed, previous flags stay in use"); line.Level != "ERROR" ||
		line.Task != "a" {
		t.Errorf("it is logged as %+v", line)
	}
	pgtest.Await(t, pool, isDone, addFlagged(t, pool, "a", "slow"))
	expectWaiting(t, pool, fast)
	pgtest.Exec(t, pool, "truncate resumed")
	pgtest.Exec(t, pool, "alter table resumed rename to paused")
	p.waitLog("query for forbidden flags succeeds again")
	pgtest.Await(t, pool, isDone, fast)
	p.signal(syscall.SIGTERM)
	p.wantExit(0)
}

func TestForbiddenFlagsOfATaskChangeWithTheConfigFile(t *testing.T) {
	t.Parallel()
	databaseURL := pgtest.Database(t)
	pool := pgtest.Pool(t, databaseURL)
	pgtest.Exec(t, pool, "create table paused as select 'slow' as flag")
	dir := configured(t, "", map[string]string{"a": "exit 0", "b": "exit 0"})
	config := filepath.Join(dir, "gw.yaml")
	p := work(t, databaseURL, filepath.Join(dir, "tasks"), "--poll-interval", "50ms")
	pgtest.Await(t, pool, isDone, addFlagged(t, pool, "a", "slow"))

	t.Log("a query")
	writeFile(t, config, "tasks: {a: {forbidden_flags: {query: select flag from paused}}}\n")
	p.signal(syscall.SIGHUP)
	p.waitLog("tasks reloaded")
	pgtest.Await(t, pool, isDone, addFlagged(t, pool, "b",
		"slow")) // when it has run, the last claim with the previous flags has ended
	slow := addFlagged(t, pool, "a", "slow")
	pgtest.Await(t, pool, isDone, addFlagged(t, pool, "b", "slow"))
	expectWaiting(t, pool, slow)
	pgtest.Exec(t, pool, "update paused set flag = 'fast'")
	pgtest.Await(t, pool, isDone, slow)

	t.Log("an invalid query, so that the previous one stays in use")
	writeFile(t, config, "tasks: {a: {forbidden_flags: {query: select flag from missing}}}\n")
	p.signal(syscall.SIGHUP)
	if line := p.waitLog("tasks are invalid, previous ones stay in use"); !strings.Contains(line.Error,
		"gw.yaml:1:30: ask for forbidden flags") {
		t.Errorf("it is logged as %+v", line)
	}
	fast := addFlagged(t, pool, "a", "fast")
	pgtest.Await(t, pool, isDone, addFlagged(t, pool, "b", "fast"))
	expectWaiting(t, pool, fast)
	pgtest.Exec(t, pool, "update paused set flag = 'slow'")
	pgtest.Await(t, pool, isDone, fast)

	t.Log("a list, of the other task")
	slow = addFlagged(t, pool, "a", "slow")
	writeFile(t, config, "tasks: {b: {forbidden_flags: slow}}\n")
	p.signal(syscall.SIGHUP)
	pgtest.Await(t, pool, isDone, slow)
	slow = addFlagged(t, pool, "b", "slow")
	pgtest.Await(t, pool, isDone, addFlagged(t, pool, "a", "slow"))
	expectWaiting(t, pool, slow)
	p.signal(syscall.SIGTERM)
	p.wantExit(0)
}
