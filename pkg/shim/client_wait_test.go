package shim_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/shim"
)

func TestAClientWaitsForTheEndOfAJob(t *testing.T) {
	clients(t, waitForBothEnds)
}

func waitForBothEnds(t *testing.T, q *queue, client *shim.Client) {
	const gone = 1_000_000
	good, bad := q.add("good", 1), value[int64](q, `select (graphile_worker.add_job('bad', max_attempts => 1)).id`)
	if err := client.Wait(t.Context(), gone); err != nil {
		t.Errorf("a job that is not there: %v", err)
	}
	ends := make(chan error, 2)
	for _, id := range []int64{good, bad} {
		go func() { ends <- client.Wait(t.Context(), id) }()
	}
	w := q.worker(shim.Config{})
	w.Handle("good", func(context.Context, *shim.Job) error { return nil })
	w.Handle("bad", func(context.Context, *shim.Job) error { return errors.New("no such host") })
	w.start()
	var failed *shim.JobFailedError
	for range 2 {
		if err := receive(t, ends); err != nil && (failed != nil || !errors.As(err, &failed)) {
			t.Errorf("Wait returned %v", err)
		}
	}
	if failed == nil || failed.ID != bad || failed.LastError != "no such host" {
		t.Errorf("the failure is %v", failed)
	}
}

func TestAWaitEndsWithItsContextAndWithAMistake(t *testing.T) {
	q := newQueue(t)
	client := shim.NewClient(q.pool, shim.ClientConfig{})
	id := q.add("task", 1)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := client.Wait(ctx, id); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Wait returned %v", err)
	}
	if err := shim.NewClient(q.pool, shim.ClientConfig{Schema: "elsewhere"}).Wait(t.Context(), id); err == nil {
		t.Error("Wait returned no error for a schema that is not there")
	}
	if err := (&shim.Client{}).Wait(t.Context(), id); err == nil {
		t.Error("Wait returned no error without a database")
	}
}

func TestAWaitOutlastsALostConnection(t *testing.T) {
	q := newQueue(t)
	client := shim.NewClient(q.pool, shim.ClientConfig{})
	id := q.add("task", 1)
	ended := make(chan error, 1)
	go func() { ended <- client.Wait(t.Context(), id) }()
	q.await(`select exists (select from pg_stat_activity where datname = current_database() and query like '%job_results%')`)
	for range 3 {
		q.exec(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like '%job_results%' and pid <> pg_backend_pid()`)
	}
	q.exec(`select graphile_worker.complete_jobs(array[$1::bigint])`, id)
	if err := receive(t, ended); err != nil {
		t.Error(err)
	}
}

// A thousand calls share one query on one connection, and each returns after the end of its job.
func TestManyWaitsShareOneQuery(t *testing.T) {
	q := newQueue(t)
	const count = 1000
	pool := q.poolInMode(pgx.QueryExecModeExec)
	client := shim.NewClient(pool, shim.ClientConfig{})
	q.exec(fmt.Sprintf(`select graphile_worker.add_job('task') from generate_series(1, %d)`, count))
	var all sync.WaitGroup
	for id := range int64(count) {
		all.Go(func() {
			if err := client.Wait(t.Context(), id+1); err != nil {
				t.Error(err)
			}
		})
	}
	q.await(`select exists (select from pg_stat_activity where datname = current_database() and query like '%job_results%')`)
	q.exec(`select count(*) from graphile_worker.complete_jobs(array(select id from graphile_worker.jobs where id > 1))`)
	q.exec(`select graphile_worker.complete_jobs('{1}')`)
	all.Wait()
	if n := pool.Stat().AcquireCount(); n >= count {
		t.Errorf("%d queries for %d calls", n, count)
	}
}
