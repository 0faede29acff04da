package beside

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/tests/go/nodegw"
)

// The scripts that docs/performance.md shows.
const (
	withoutNode = "without_node.sql"
	withNode    = "with_node.sql"
)

// run runs one of the scripts as the page's readers do.
func (q *queue) run(script string) {
	q.t.Helper()
	content, err := os.ReadFile(script)
	if err != nil {
		q.t.Fatal(err)
	}
	statements := string(content)
	if value[int](q, "select current_setting('server_version_num')::integer") < 130000 {
		statements = strings.Replace(statements, " with (deduplicate_items = off)", "", 1)
	}
	psql := exec.CommandContext(q.t.Context(), "psql", "--no-psqlrc", "--quiet", "--set", "ON_ERROR_STOP=1", "--file",
		"-", q.url)
	psql.Stdin = strings.NewReader(statements)
	if output, err := psql.CombinedOutput(); err != nil {
		q.t.Fatalf("%s: %v\n%s", script, err, output)
	}
}

func (q *queue) migrator() *migrate.Migrator {
	q.t.Helper()
	config, err := pgx.ParseConfig(q.url)
	if err != nil {
		q.t.Fatal(err)
	}
	m, err := migrate.New(config, migrate.Config{})
	if err != nil {
		q.t.Fatal(err)
	}
	return m
}

// expectNoComplaint checks that status, up, repair and doctor find nothing to do or to tell.
func (q *queue) expectNoComplaint() {
	q.t.Helper()
	ctx, m := q.t.Context(), q.migrator()
	status, err := m.Status(ctx)
	if err != nil || status.State != migrate.Current || status.Refusal != nil ||
		len(status.Changed())+len(status.Warnings) > 0 {
		q.t.Errorf("status: %+v, %v", status, err)
	}
	if _, err := m.Up(ctx); err != nil {
		q.t.Errorf("up: %v", err)
	}
	if repaired, err := m.Repair(ctx); err != nil || len(repaired.Replaced)+len(repaired.Left) > 0 {
		q.t.Errorf("repair finds work: %v, %v", repaired, err)
	}
	equal(q.t, "findings", value[string](q, "select coalesce(string_agg(d.finding || ': ' || d.detail, e'\n'), '') from graphile_worker.doctor() as d"), "")
}

// expectUniqueKeys adds jobs under keys in each way, twice: the second time they replace those of the first.
func (q *queue) expectUniqueKeys() {
	q.t.Helper()
	for range 2 {
		q.exec(`select graphile_worker.add_job('a', job_key => 'one')`)
		q.exec(`select count(*) from graphile_worker.add_jobs(array[
		          row('a', '{}', null, null, null, 'one', null, null),
		          row('a', '{}', null, null, null, 'two', null, null)]::graphile_worker.job_spec[])`)
		q.exec(`select graphile_worker.add_job_once('a', key => 'three', within => '1 microsecond')`)
		q.exec(`select graphile_worker.debounce_job('a', key => 'four', wait => '1 hour')`)
	}
	equal(q.t, "keys", value[string](q, "select string_agg(j.key, ' ' order by j.key) from graphile_worker.jobs as j"),
		"four one three two")
	_, err := q.pool.Exec(q.t.Context(), "insert into graphile_worker._private_jobs (task_id, key) select j.task_id, j.key from graphile_worker._private_jobs as j")
	equal(q.t, "error of a second job with a key", sqlstate.Of(err), "23505")
	q.exec("delete from graphile_worker._private_jobs")
}

// indexes selects the indexes and constraints of the jobs.
const indexes = `
	select string_agg(x.definition, e'\n' order by x.definition)
	  from (select pg_get_indexdef(i.indexrelid) from pg_index as i where i.indrelid = 'graphile_worker._private_jobs'::regclass
	        union all
	        select format('constraint %s %s', c.conname, pg_get_constraintdef(c.oid))
	          from pg_constraint as c
	         where c.conrelid = 'graphile_worker._private_jobs'::regclass) as x (definition)`

func TestKeysAreUniqueWithoutTheIndexesOfNodeAndAfterTheWayBack(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	before := value[string](q, indexes)
	for _, script := range []string{withoutNode, withNode, withoutNode, withNode} {
		q.run(script)
		q.expectNoComplaint()
		q.expectUniqueKeys()
	}
	equal(t, "indexes after the way back", value[string](q, indexes), before)
}

// Producers and workers call the queue while the indexes change back and forth, in sessions whose plans are older than the
// indexes. No call fails, and no key is given to two jobs.
func TestNoCallFailsWhileTheIndexesChange(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var callers sync.WaitGroup
	failures := make(chan error, 4)
	for caller := range 4 {
		callers.Go(func() { failures <- q.callWithKeys(ctx, fmt.Sprintf("w%d", caller)) })
	}
	for range 10 {
		q.run(withoutNode)
		q.run(withNode)
	}
	stop()
	callers.Wait()
	close(failures)
	for err := range failures {
		if err != nil {
			t.Error(err)
		}
	}
}

// callWithKeys adds and completes jobs under three keys, as this worker, until the context ends or a call fails.
func (q *queue) callWithKeys(ctx context.Context, worker string) error {
	for n := 0; ctx.Err() == nil; n++ {
		for _, statement := range []string{
			"select graphile_worker.add_job('task', job_key => $1, flags => array[$2::text])",
			"select graphile_worker.add_jobs(array[row('task', '{}', null, null, null, $1, null, array[$2::text])::graphile_worker.job_spec])",
			"select graphile_worker.add_job_once('task', key => $1, within => '1 millisecond', flags => array[$2::text])",
			"select graphile_worker.complete_job($2, j.id) from graphile_worker.get_job($2) as j where $1 <> ''",
		} {
			if _, err := q.pool.Exec(context.WithoutCancel(ctx), statement, fmt.Sprint("k", n%3), worker); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
	}
	return nil
}

func TestAnIdleNodeWorkerIsSeenByItsSession(t *testing.T) {
	for _, version := range []nodegw.Version{nodegw.V17, nodegw.V18} {
		t.Run(string(version), func(t *testing.T) {
			t.Parallel()
			q := newQueue(t)
			worker := q.node(nodegw.Options{Version: version}, "a")
			q.add("a", `'{}'`)
			q.awaitEmpty()
			q.await("select exists (select from graphile_worker._gw_node_workers() as n where n.detail like 'listens for jobs%')")
			worker.Stop()
			q.await("select not exists (select from graphile_worker._gw_node_workers())")
		})
	}
}

func TestANodeWorkerWorksInAQueueWithoutItsIndexesAndIsTold(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	q.run(withoutNode)
	before := value[string](q, catalogue)
	worker := q.node(nodegw.Options{}, "a")
	q.await(`select exists (select from graphile_worker.doctor() as d where d.finding = 'node worker' and d.subject like 'process %')`)

	q.exec(`select graphile_worker.add_job('a', json_build_object('n', n), queue_name => case when n % 2 = 0 then 'q' || n % 3 end,
	                                       job_key => 'k' || n)
	          from generate_series(1, 20) as n`)
	q.addFromNode("a", map[string]any{"by": "node"}, map[string]any{"jobKey": "k"})
	q.awaitEmpty()
	equal(t, "jobs that ran", value[int](q, "select count(*) from ran"), 21)
	if after := value[string](q, catalogue); after != before {
		t.Errorf("the schema was\n%s\nand is\n%s", before, after)
	}

	q.run(withNode)
	q.expectNoComplaint()
	worker.Stop()
}

// A later Graphile Worker may replace our functions by its own, which ask for an index of all keys.
func TestNodesOwnAddJobFailsWithoutItsIndexesUntilTheRepair(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	q.run(withoutNode)
	q.installNodesOwnFunctions()
	for _, call := range []string{`add_job('a')`, `add_job('a', job_key => 'k')`} {
		_, err := q.pool.Exec(t.Context(), "select graphile_worker."+call)
		equal(t, "error of "+call, sqlstate.Of(err), "42P10")
	}
	if _, err := q.migrator().Repair(t.Context()); err != nil {
		t.Fatal(err)
	}
	q.add("a", `'{}', job_key => 'k'`)
	q.installNodesOwnFunctions()
	q.run(withNode)
	q.add("a", `'{}', job_key => 'k'`)
}
