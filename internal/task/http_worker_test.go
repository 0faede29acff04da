package task_test

import (
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/pkg/shim"
)

// workOnce works a database until no job is runnable, with the handler of the task "a".
func workOnce(t *testing.T, pool *pgxpool.Pool, handler shim.Handler) {
	t.Helper()
	worker, err := shim.New(pool, shim.Config{Concurrency: 2})
	if err != nil {
		t.Fatal(err)
	}
	worker.Handle("a", handler)
	if err := worker.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestWhatAServerAnswersBecomesOfTheJob(t *testing.T) {
	pool := pgtest.Pool(t, pgtest.Database(t))
	server := serve(t, func(w http.ResponseWriter, sent *http.Request) {
		switch sent.Header.Get("Gw-Key") {
		case "wrong":
			w.WriteHeader(422)
			_, _ = io.WriteString(w, "no such\x00 order")
		case "busy":
			w.Header().Set("Retry-After", "3600")
			w.WriteHeader(429)
		case "broken":
			w.WriteHeader(500)
		}
	})
	pgtest.Exec(t, pool, `
		select graphile_worker.add_job('a', '{}', job_key := k) from unnest(array['fine', 'wrong', 'busy', 'broken']) as k`)
	workOnce(t, pool, handler(t, task.HTTP{URL: server.URL, Permanent4xx: true}))

	rows, _ := pool.Query(t.Context(), `
		select j.key, coalesce(j.last_error, ''), j.attempts = j.max_attempts, extract(epoch from j.run_at - now())::float8
		  from graphile_worker.jobs as j`)
	type left struct {
		lastError string
		forGood   bool
		delay     time.Duration // rounded to the minute
	}
	want := map[string]left{
		"wrong":  {"POST " + server.URL + ": answered 422 Unprocessable Entity\nno such\uFFFD order", true, 0},
		"busy":   {"", false, time.Hour}, // the attempt does not count
		"broken": {"POST " + server.URL + ": answered 500 Internal Server Error", false, 0},
	}
	for rows.Next() {
		var key string
		var got left
		var seconds float64
		if err := rows.Scan(&key, &got.lastError, &got.forGood, &seconds); err != nil {
			t.Fatal(err)
		}
		got.delay = time.Duration(seconds * float64(time.Second)).Round(time.Minute)
		if got != want[key] {
			t.Errorf("job %s: %+v, want %+v", key, got, want[key])
		}
		delete(want, key)
	}
	if err := rows.Err(); err != nil || len(want) > 0 {
		t.Errorf("jobs that are missing: %v; %v", want, err)
	}
}

func TestEveryAttemptOfOnePayloadHasTheSameIdempotencyKey(t *testing.T) {
	pool := pgtest.Pool(t, pgtest.Database(t))
	server := serve(t, answer(500))
	handle := handler(t, task.HTTP{URL: server.URL})
	work := func(attempts int) {
		for range attempts {
			pgtest.Exec(t, pool, `update graphile_worker._private_jobs set run_at = now()`)
			workOnce(t, pool, handle)
		}
	}
	add := func(payload string) (id int64) {
		return pgtest.Value[int64](t, pool,
			`select id from graphile_worker.add_job('a', $1::text::json, max_attempts := 3, job_key := 'k')`, payload)
	}
	id := add(`{"n":1}`)
	pgtest.Exec(t, pool, `update graphile_worker._private_jobs set attempts = 1`) // an attempt of some other worker
	work(2)
	wantKeys(t, server, fmt.Sprintf("graphile_worker/%d/0/a", id), 2)

	// A permanently failed job is not replaced: the same key adds a new job.
	next := add(`{"n":2}`)
	add(`{"n":3}`) // replaces it before it runs
	work(3)
	wantKeys(t, server, fmt.Sprintf("graphile_worker/%d/1/a", next), 3)
}

// wantKeys expects that n attempts had an idempotency key.
func wantKeys(t *testing.T, server *recorder, key string, n int) {
	t.Helper()
	seen := make(map[string]bool)
	for _, request := range server.requests {
		if request.Header.Get("Idempotency-Key") == key {
			seen[request.Header.Get("Gw-Attempt")] = true
		}
	}
	if len(seen) != n {
		t.Errorf("%d attempts with the key %s, want %d, of %d requests", len(seen), key, n, len(server.requests))
	}
}
