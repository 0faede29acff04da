package shim_test

import (
	"database/sql"
	"errors"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "github.com/lib/pq"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

// clients runs a test with a client for each way to talk to the database, which is empty each time.
func clients(t *testing.T, test func(t *testing.T, q *queue, client *shim.Client)) {
	clientsWith(t, shim.ClientConfig{}, test)
}

// clientsWith is clients with a configuration.
func clientsWith(t *testing.T, cfg shim.ClientConfig, test func(t *testing.T, q *queue, client *shim.Client)) {
	shared := newQueue(t)
	run := func(name string, client func(q *queue) *shim.Client) {
		t.Run(name, func(t *testing.T) {
			q := &queue{t: t, pool: shared.pool, url: shared.url}
			for _, table := range []string{"jobs", "tasks", "job_queues"} {
				q.exec("delete from graphile_worker._private_" + table)
			}
			q.exec("delete from graphile_worker._gw_keyed_calls")
			q.exec("delete from graphile_worker._gw_job_context")
			test(t, q, client(q))
		})
	}
	for _, mode := range pgtest.QueryModes {
		run("pgx "+mode.String(), func(q *queue) *shim.Client {
			return shim.NewClient(q.poolInMode(mode), cfg)
		})
	}
	for _, driver := range []string{"pgx", "postgres"} {
		run("database/sql "+driver, func(q *queue) *shim.Client {
			return shim.NewSQLClient(q.sqlDB(driver), cfg)
		})
	}
}

// client returns a client on the test's pool.
func (q *queue) client() *shim.Client { return shim.NewClient(q.pool, shim.ClientConfig{}) }

func (q *queue) poolInMode(mode pgx.QueryExecMode) *pgxpool.Pool {
	q.t.Helper()
	return pgtest.PoolInMode(q.t, q.url, mode)
}

// sqlDB opens the database by a driver of database/sql: pgx, or lib/pq as postgres.
func (q *queue) sqlDB(driver string) *sql.DB {
	q.t.Helper()
	address, err := url.Parse(q.url)
	if err != nil {
		q.t.Fatal(err)
	}
	query := address.Query()
	query.Set("sslmode", "disable") // lib/pq insists on TLS unless told not to
	address.RawQuery = query.Encode()
	db, err := sql.Open(driver, address.String())
	if err != nil {
		q.t.Fatal(err)
	}
	q.t.Cleanup(func() {
		if err := db.Close(); err != nil {
			q.t.Error(err)
		}
	})
	return db
}

// one takes the answer of a call that must succeed.
func one(t *testing.T) func(*shim.JobInfo, error) *shim.JobInfo { return must[*shim.JobInfo](t) }

// many is one for calls that answer with several jobs.
func many(t *testing.T) func([]*shim.JobInfo, error) []*shim.JobInfo { return must[[]*shim.JobInfo](t) }

func must[T any](t *testing.T) func(T, error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func idsOf(jobs []*shim.JobInfo) []int64 {
	ids := make([]int64, len(jobs))
	for i, job := range jobs {
		ids[i] = job.ID
	}
	return ids
}

// wantCode expects an error of the database with this SQLSTATE.
func wantCode(t *testing.T, err error, code string) {
	t.Helper()
	if pgErr, ok := errors.AsType[*pgconn.PgError](err); !ok || pgErr.Code != code {
		t.Errorf("the error is %v, want one with code %s", err, code)
	}
}
