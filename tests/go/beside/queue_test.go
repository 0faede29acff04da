package beside

import (
	"encoding/json"
	"fmt"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/tests/go/nodegw"
)

// queue is a database of the test's own. It contains the queue, a table `ran`, in which each job records that and when it ran, and
// the function `job`, which every job calls on both sides, and which tests can replace.
type queue struct {
	t    *testing.T
	url  string
	pool *pgxpool.Pool
}

func newQueue(t *testing.T) *queue {
	t.Helper()
	q := &queue{t: t, url: pgtest.Database(t)}
	q.pool = pgtest.Pool(t, withParameter(t, q.url, "pool_max_conns", "20"))
	q.exec(`
		create table ran (
			number  integer generated always as identity,
			side    text        not null,
			id      bigint      not null,
			task    text        not null,
			payload json        not null,
			attempt integer     not null,
			began   timestamptz not null,
			ended   timestamptz not null
		)`)
	q.job("")
	return q
}

func withParameter(t *testing.T, databaseURL, name, value string) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatalf("read the database's URL: %v", err)
	}
	parameters := u.Query()
	parameters.Set(name, value)
	u.RawQuery = parameters.Encode()
	return u.String()
}

// job makes all jobs execute body: PL/pgSQL statements with the variables side (`node` or `gw`), id, task, payload and attempt. A job
// whose body raises an error fails with that message; a job that succeeds is recorded in the table `ran`.
func (q *queue) job(body string) {
	q.t.Helper()
	q.exec(fmt.Sprintf(`
		create or replace function job(side text, id bigint, task text, payload json) returns void language plpgsql as $job$
		declare
			began   timestamptz := clock_timestamp();
			attempt integer := (select j.attempts from graphile_worker.jobs as j where j.id = job.id);
		begin
			%s
			insert into ran (side, id, task, payload, attempt, began, ended)
			values (side, id, task, payload, coalesce(attempt, 0), began, clock_timestamp());
		end
		$job$`, body))
}

func (q *queue) exec(sql string, args ...any) {
	q.t.Helper()
	pgtest.Exec(q.t, q.pool, sql, args...)
}

// value returns the only column of the only row.
func value[T any](q *queue, sql string, args ...any) T {
	q.t.Helper()
	return values[T](q, sql, args...)[0]
}

// values returns the only column of one row or more.
func values[T any](q *queue, sql string, args ...any) []T {
	q.t.Helper()
	rows, _ := q.pool.Query(q.t.Context(), sql, args...)
	all, err := pgx.CollectRows(rows, pgx.RowTo[T])
	if err != nil {
		q.t.Fatalf("%s: %v", sql, err)
	}
	if len(all) == 0 {
		q.t.Fatalf("%s: no row", sql)
	}
	return all
}

// await waits until a query returns true.
func (q *queue) await(sql string, args ...any) {
	q.t.Helper()
	pgtest.Await(q.t, q.pool, sql, args...)
}

// awaitRan waits until a job has run.
func (q *queue) awaitRan(id int64) {
	q.t.Helper()
	q.await("select exists (select from ran where id = $1)", id)
}

// awaitEmpty waits until all jobs are done.
func (q *queue) awaitEmpty() {
	q.t.Helper()
	q.await("select not exists (select from graphile_worker.jobs)")
}

// add adds a job from SQL and returns its id. The arguments are those of add_job after the task's name.
func (q *queue) add(task, arguments string) int64 {
	q.t.Helper()
	if arguments != "" {
		arguments = ", " + arguments
	}
	return value[int64](q, "select id from graphile_worker.add_job($1"+arguments+")", task)
}

// addFromNode calls addJob from JavaScript, with an object for its spec, and returns the job's id.
func (q *queue) addFromNode(task string, payload any, spec map[string]any) int64 {
	q.t.Helper()
	result := nodegw.Utils(q.t, nodegw.V18, q.url, "", nodegw.Call{"addJob", task, payload, spec})[0]
	var job struct {
		ID int64 `json:"id,string"`
	}
	if err := json.Unmarshal(result, &job); err != nil {
		q.t.Fatalf("read the result of addJob: %v\n%s", err, result)
	}
	return job.ID
}

// equal reports an error unless got is want.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}
