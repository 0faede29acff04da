package beside

import (
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/tests/go/nodegw"
)

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

func (q *queue) tune(wanted migrate.Indexes) {
	q.t.Helper()
	if changed, err := q.migrator().Tune(q.t.Context(), wanted); err != nil || !changed {
		q.t.Fatalf("tune %s: %t, %v", wanted, changed, err)
	}
}

// The worker is idle, so it can only be seen by its session.
func TestAQueueWithANodeWorkerKeepsItsIndexes(t *testing.T) {
	for _, version := range []nodegw.Version{nodegw.V17, nodegw.V18} {
		t.Run(string(version), func(t *testing.T) {
			t.Parallel()
			q := newQueue(t)
			worker := q.node(nodegw.Options{Version: version}, "a")
			q.add("a", `'{}'`)
			q.awaitEmpty()
			_, err := q.migrator().Tune(t.Context(), migrate.WithoutNode)
			refusal, refused := errors.AsType[*migrate.Refusal](err)
			if !refused || refusal.Reason != migrate.ReasonNode || !strings.Contains(refusal.Problem, "listens for jobs") {
				t.Errorf("got %v", err)
			}
			worker.Stop()
			q.tune(migrate.WithoutNode)
		})
	}
}

func TestANodeWorkerWorksInAQueueWithoutItsIndexesAndIsTold(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	q.tune(migrate.WithoutNode)
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
	worker.Stop()

	q.tune(migrate.ForNode)
	equal(t, "findings", value[int](q, "select count(*) from graphile_worker.doctor() as d where d.finding = 'node worker'"), 0)
}

// A later Graphile Worker may replace our functions by its own, which ask for an index of all keys.
func TestNodesOwnAddJobFailsWithoutItsIndexesUntilTheRepair(t *testing.T) {
	t.Parallel()
	q := newQueue(t)
	q.tune(migrate.WithoutNode)
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
	q.tune(migrate.ForNode)
	q.add("a", `'{}', job_key => 'k'`)
}
