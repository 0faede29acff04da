package shim

import (
	"log/slog"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// A batch has claimed a job whose outcome is not written yet, while the worker looks for jobs of a claim without an answer.
func TestAJobThatABatchHasClaimedIsNotUnknown(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Database(t))
	pgtest.Exec(t, pool, `select graphile_worker.add_job('task') from generate_series(1, 2)`)
	ids := pgtest.Value[[]int64](t, pool, `select array_agg(j.id order by j.id) from graphile_worker.get_job_batch('gw-test', batch_size => 2) as j`)
	b := &batches{claimed: make(map[int64]struct{})}
	f := &fetcher{
		queries: &queries{pool: pool, schema: `"graphile_worker"`, workerID: "gw-test"},
		batches: b, logger: slog.New(slog.DiscardHandler),
	}
	locked := func(want int) {
		t.Helper()
		if n := pgtest.Value[int](t, pool, `select count(*)::integer from graphile_worker.jobs where locked_at is not null`); n != want {
			t.Errorf("%d jobs are locked, want %d", n, want)
		}
	}
	release := b.claim([]outcome{{job: &Job{ID: ids[1]}}}, []int{0})
	for _, want := range []int{1, 0} {
		if err := f.returnUnknown(t.Context()); err != nil {
			t.Fatal(err)
		}
		locked(want)
		release()
	}
}
