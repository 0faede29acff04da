package migrate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/release"
	"github.com/gwsql/gw/pkg/migrate"
)

// Workers and producers of each release continue while their database, full of jobs, is migrated to each of the
// releases after it: their statements raise no errors, and each job is completed once.
func TestTheStatementsOfEachReleaseGoOnDuringAnUpgrade(t *testing.T) {
	for version, past := range pastReleases(t) {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			database := pgtest.EmptyDatabase(t)
			if _, err := newMigratorFrom(t, database, migrate.Config{}, past.files).Up(t.Context()); err != nil {
				t.Fatal(err)
			}
			pool := pgtest.Pool(t, database)
			pgtest.Exec(t, pool, `create table done (n integer, worker text)`)
			stopProducing := produce(t, pool, true)
			pgtest.Await(t, pool, `select count(*) > 100 from graphile_worker._private_jobs`)
			var stop []func()
			for n := range 3 {
				stop = append(stop, startOlder(t, pool, past.calls, fmt.Sprint("older ", n)))
			}
			pgtest.Await(t, pool, `select count(*) > 100 from done`)

			for _, files := range past.upgrades {
				if _, err := newMigratorFrom(t, database, migrate.Config{}, files).Up(t.Context()); err != nil {
					t.Fatal(err)
				}
				before := pgtest.Value[int](t, pool, `select count(*) from done`)
				pgtest.Await(t, pool, `select count(*) > $1 from done`, before+100)
			}

			total := stopProducing()
			pgtest.Await(t, pool, `select not exists (select from graphile_worker._private_jobs)`)
			for _, stop := range stop {
				stop()
			}
			expectEachOnce(t, pool, total)
		})
	}
}

// An olderWorker works as those of a release do: with their statements, one after the other.
type olderWorker struct {
	t     *testing.T
	pool  *pgxpool.Pool
	calls release.Calls
	id    string
}

// startOlder runs a worker until the function that it returns is called.
func startOlder(t *testing.T, pool *pgxpool.Pool, calls release.Calls, id string) (stop func()) {
	t.Helper()
	w := &olderWorker{t, pool, calls, id}
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan struct{})
	go func() {
		defer close(left)
		w.call("_gw_breaking_revision")
		w.call("register_worker", id, []string{"note"}, 4, "host", 1, "older")
		for ctx.Err() == nil && !t.Failed() {
			w.work()
		}
		w.call("deregister_worker", id)
	}()
	return func() {
		cancel()
		<-left
	}
}

// claimed is a job that the worker has.
type claimed struct {
	id, lease int64
	n         int
	queue     *string
	attempts  int16
}

// work claims jobs, and reports them in each of the ways there are.
func (w *olderWorker) work() {
	w.beat()
	jobs := w.claim()
	byLease := make(map[int64][]int64)
	for _, job := range jobs {
		switch {
		case job.attempts == 1 && job.n%10 == 1:
			failures, err := json.Marshal([]map[string]any{{"id": job.id, "lease": job.lease, "message": "once",
				"retry_in": 0.001}})
			if err != nil {
				w.t.Error(err)
			}
			w.call("fail_job_batch", w.id, string(failures))
			continue
		default:
			byLease[job.lease] = append(byLease[job.lease], job.id)
		}
		if _, err := w.pool.Exec(w.t.Context(), "insert into done (n, worker) values ($1, $2)", job.n,
			w.id); err != nil {
			w.t.Errorf("note job %d: %v", job.n, err)
		}
	}
	for lease, ids := range byLease {
		w.call("_gw_complete_claim", w.id, ids, lease)
	}
	if len(jobs) == 0 {
		w.call("stale_sweep")
	}
}

// claim claims jobs, and says that the worker falls asleep if there are none.
func (w *olderWorker) claim() (jobs []claimed) {
	rows, err := w.pool.Query(w.t.Context(), w.statement("fall_asleep", 5), w.id, []string{"note"}, 4, nil, 0.01)
	if err != nil {
		w.t.Errorf("%s claims: %v", w.id, err)
		return nil
	}
	jobs, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (job claimed, err error) {
		values, err := row.Values()
		if err != nil {
			return job, err
		}
		for i, field := range row.FieldDescriptions() {
			switch field.Name {
			case "id":
				job.id, _ = values[i].(int64) // null if there is no job
			case "lease":
				job.lease, _ = values[i].(int64)
			case "attempts":
				job.attempts, _ = values[i].(int16)
			case "payload":
				if payload, ok := values[i].(map[string]any); ok {
					job.n = int(payload["n"].(float64))
				}
			case "queue_name":
				if name, ok := values[i].(string); ok {
					job.queue = &name
				}
			}
		}
		return job, nil
	})
	if err != nil {
		w.t.Errorf("%s claims: %v", w.id, err)
	}
	return slices.DeleteFunc(jobs, func(job claimed) bool { return job.id == 0 })
}

// beat sends a heartbeat, which tells more in some releases than in others.
func (w *olderWorker) beat() {
	args := []any{w.id, []int64{}, []int64{}, false}
	parameters := math.MaxInt
	for _, call := range w.calls.Statements {
		if strings.Contains(call.SQL, `"graphile_worker".heartbeat(`) {
			parameters = min(parameters, len(call.Parameters))
		}
	}
	w.call("heartbeat", append(args, make([]any, parameters-len(args))...)...)
}

// call runs the statement that calls a function, and takes every row of its result.
func (w *olderWorker) call(function string, args ...any) {
	rows, err := w.pool.Query(w.t.Context(), w.statement(function, len(args)), args...)
	if err == nil {
		for rows.Next() {
			if _, err := rows.Values(); err != nil {
				w.t.Errorf("%s calls %s: %v", w.id, function, err)
			}
		}
		err = rows.Err()
	}
	if err != nil {
		w.t.Errorf("%s calls %s: %v", w.id, function, err)
	}
}

// statement returns the statement of the release that calls a function with so many parameters.
func (w *olderWorker) statement(function string, parameters int) string {
	for _, call := range w.calls.Statements {
		if strings.Contains(call.SQL, `"graphile_worker".`+function+"(") && len(call.Parameters) == parameters {
			return call.SQL
		}
	}
	w.t.Errorf("no statement of the release calls %s with %d parameters", function, parameters)
	return "select"
}
