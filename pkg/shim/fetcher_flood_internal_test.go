package shim

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/shim/internal/ration"
)

// newFlood returns a fetcher that knows its jobs to be short, on a database with some of them.
func newFlood(t *testing.T, jobs int) (*fetcher, *pgxpool.Pool) {
	t.Helper()
	t.Parallel()
	url := pgtest.Database(t)
	admin := pgtest.Pool(t, url)
	pgtest.Exec(t, admin, `select count(*) from graphile_worker.add_jobs(array(
		select row('drop', '{}', null, null, null, null, null, null)::graphile_worker.job_spec from generate_series(1, $1::integer)))`, jobs)
	q := &queries{pool: pgtest.Pool(t, url), schema: pgx.Identifier{"graphile_worker"}.Sanitize(), workerID: "gw-flood",
		worker: &host{}}
	f := newIdle(q)
	f.backlog.ration = learned(1, time.Microsecond)
	f.look = true
	return f, admin
}

// flood claims as after a claim of the maximum number of jobs, until the flood is over.
func (f *fetcher) flood(stop context.Context) (failure error) {
	f.claims.floodOf = f.tasks.Load()
	for f.claims.isFlood() {
		select {
		case a := <-f.advice:
			f.follow(a)
		default:
		}
		f.tick(time.Now())
		if stop.Err() != nil {
			f.claims.floodOf = nil
		}
		if !f.claims.isFlood() {
			break
		}
		if source := f.next(); source != nil {
			failure = errors.Join(failure, source.run(stop))
		} else if f.claims.inFlight > 0 {
			failure = errors.Join(failure, f.claims.take(stop, <-f.claims.answers))
		}
	}
	return failure
}

func TestAFloodEndsWithAClaimThatIsNotFilled(t *testing.T) {
	f, _ := newFlood(t, 2500)
	if err := f.flood(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen := make(map[int64]bool)
	for _, job := range f.backlog.close() {
		seen[job.ID] = true
	}
	if len(seen) != 2500 || f.held.n != 2500 || f.lost.pending() {
		t.Errorf("%d jobs wait, %d are held, unsure %t", len(seen), f.held.n, f.lost.pending())
	}
}

func TestAfterAClaimWithoutAnAnswerLessIsAskedFor(t *testing.T) {
	f, admin := newFlood(t, 0)
	pgtest.Exec(t, admin, `select graphile_worker.add_job('drop', to_json(repeat('x', 1000000))) from generate_series(1, 10)`)
	f.backlog.ration.Overdue()
	f.backlog.ration.Overdue() // 2 MB, for each of two claims; the second one returns nothing if it meets the first one's locks
	if err := f.flood(t.Context()); err != nil || f.held.n < 2 || f.held.n > 4 || f.held.bytes < 2e6 {
		t.Errorf("%d jobs of %d bytes are held, %v", f.held.n, f.held.bytes, err)
	}
}

func TestAFloodEndsWithTheWorker(t *testing.T) {
	f, _ := newFlood(t, 2500)
	stop, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.flood(stop); err != nil || f.held.n != 0 {
		t.Errorf("%d jobs are held, %v", f.held.n, err)
	}
}

func TestAFloodEndsWhereAJobHasToRunAlone(t *testing.T) {
	f, _ := newFlood(t, 5000)
	f.advice.tell(advice{aloneWaits: true})
	if err := f.flood(t.Context()); err != nil || !f.suspects.waits || f.held.n > 2*ration.MaxClaim {
		t.Errorf("%d jobs are held, %v", f.held.n, err)
	}
}

func TestAFloodEndsWhenTheWorkerIsDrained(t *testing.T) {
	f, _ := newFlood(t, 5000)
	f.advice.tell(advice{drained: true})
	if err := f.flood(t.Context()); err != nil || f.held.n != 0 {
		t.Errorf("%d jobs are held, %v", f.held.n, err)
	}
	if source := f.next(); source != nil {
		t.Errorf("a drained worker calls %T", source)
	}
	f.lost.now = true // what else has to be done is done
	if source := f.next(); source != f.lost {
		t.Errorf("a drained worker that lost an answer calls %T", source)
	}
}

func TestTwoClaimsOfAFloodOverlapAndOneMayBeLost(t *testing.T) {
	f, admin := newFlood(t, 2500)
	tx, err := admin.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(t.Context(), `lock table graphile_worker._private_tasks`); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- f.flood(t.Context()) }()
	const claiming = `from pg_stat_activity
		where datname = current_database() and query like '%.get_job_batch(%' and wait_event_type = 'Lock'`
	pgtest.Await(t, admin, `select count(*) = 2 `+claiming)
	pgtest.Exec(t, admin, `select pg_terminate_backend(pid) from (select pid `+claiming+` limit 1) as first`)
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; sqlstate.Of(err) != "57P01" {
		t.Errorf("the flood ended with %v", err)
	}
	if f.held.n != ration.MaxClaim || !f.lost.pending() {
		t.Errorf("%d jobs are held, unsure %t", f.held.n, f.lost.pending())
	}
}
