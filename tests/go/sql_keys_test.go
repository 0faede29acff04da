package gotest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

func TestKeyedRequestsAreNeverLostHoweverTheyRaceWithClaims(t *testing.T) {
	keyRace{isolation: readCommitted, producers: 24, calls: 40, claimers: 8}.run(t)
}

// keyRace has producers add jobs under three keys while claimers complete and fail them. A call's place in the order of
// its key's requests is told by the row it returned: id and revision. So it has been answered exactly if a claim returned
// that row with that revision or a later one.
type keyRace struct {
	isolation                  string
	producers, calls, claimers int // calls for each producer
}

// version is a state of a job's row.
type version struct {
	id       int64
	revision int32
}

func (r keyRace) run(t *testing.T) {
	db := newDatabase(t)
	var (
		lastRequest atomic.Int64
		mu          sync.Mutex
		requested   = map[version]int64{} // the request that each version answers
		claimed     = map[version]int64{} // the request in the payload of each claimed version
	)
	producers, ctx := errgroup.WithContext(t.Context())
	claimers, claimCtx := errgroup.WithContext(t.Context())
	for p := range r.producers {
		conn := db.sessionAt(r.isolation).conn
		producers.Go(func() error {
			for range r.calls {
				rows, err := insist(r.isolation,
					func() ([]keyedRow, error) { return addKeyed(ctx, conn, p, &lastRequest) })
				if err != nil {
					return err
				}
				mu.Lock()
				for _, row := range rows {
					requested[version{row.ID, row.Revision}] = row.Request
				}
				mu.Unlock()
			}
			return nil
		})
	}
	var produced atomic.Bool
	for c := range r.claimers {
		conn := db.sessionAt(r.isolation).conn
		worker := fmt.Sprint("worker ", c)
		claimers.Go(func() error {
			for {
				last := produced.Load()
				jobs, err := insist(r.isolation,
					func() ([]claimedJob, error) { return claim(claimCtx, conn, worker, 3) })
				if err != nil {
					return err
				}
				if last && len(jobs) == 0 {
					return nil
				}
				for _, job := range jobs {
					request, err := job.request()
					if err != nil {
						return err
					}
					mu.Lock()
					claimed[version{job.ID, job.Revision}] = request
					mu.Unlock()
					outcome := "select graphile_worker.complete_job($1, $2, $3)"
					if rand.IntN(4) == 0 {
						outcome = "select exists (select from graphile_worker.fail_job($1, $2, 'test', $3, retry_in => '0'))"
					}
					if err := report(claimCtx, conn, r.isolation, outcome, worker, job.ID, job.Lease); err != nil {
						return err
					}
				}
			}
		})
	}
	producerErr := producers.Wait()
	produced.Store(true)
	if claimerErr := claimers.Wait(); producerErr != nil || claimerErr != nil {
		t.Fatalf("producers: %v; claimers: %v", producerErr, claimerErr)
	}

	checkRequests(t, requested, claimed)
	left := one[int](db.watcher, "select count(*) from graphile_worker._private_jobs where key is not null or is_available")
	if left != 0 {
		t.Errorf("%d jobs are left that could still run", left)
	}
}

// request returns the number in the payload of a job.
func (j claimedJob) request() (int64, error) {
	var payload struct{ Request int64 }
	err := json.Unmarshal([]byte(j.Payload), &payload)
	return payload.Request, err
}

// checkRequests reports requests that no claimed version answers, and versions that were claimed with another request.
func checkRequests(t *testing.T, requested, claimed map[version]int64) {
	t.Helper()
	lastClaimed := map[int64]int32{}
	for v, request := range claimed {
		lastClaimed[v.id] = max(lastClaimed[v.id], v.revision)
		if requested[v] != request {
			t.Errorf("job %d ran revision %d with request %d, want %d", v.id, v.revision, request, requested[v])
		}
	}
	for v, request := range requested {
		if revision, ok := lastClaimed[v.id]; !ok || revision < v.revision {
			t.Errorf("request %d is lost: job %d never ran with revision %d", request, v.id, v.revision)
		}
	}
}

// keyedRow is what an add_job under a key returned.
type keyedRow struct {
	ID       int64
	Revision int32
	Request  int64
}

// addKeyed makes one call under one or two of three keys, by add_job and add_jobs in turn. A null id is an error.
func addKeyed(ctx context.Context, conn *pgx.Conn, producer int, lastRequest *atomic.Int64) ([]keyedRow, error) {
	queues := []*string{nil, nil, new("serial")}
	keys := rand.Perm(3)
	a, b := keys[0], keys[1]
	var (
		rows pgx.Rows
		err  error
	)
	if producer%3 == 0 {
		rows, err = conn.Query(ctx, `
			select j.id, j.revision, (j.payload ->> 'request')::bigint as request
			  from graphile_worker.add_jobs(array[
			         ('task', json_build_object('request', $1::bigint), $2, null, null, $3, null, null)::graphile_worker.job_spec,
			         ('task', json_build_object('request', $4::bigint), $5, null, null, $6, null, null)::graphile_worker.job_spec
			       ]) as j`,
			lastRequest.Add(1), queues[a], fmt.Sprint("key ", a), lastRequest.Add(1), queues[b], fmt.Sprint("key ", b))
	} else {
		rows, err = conn.Query(ctx, `
			select j.id, j.revision, (j.payload ->> 'request')::bigint as request
			  from graphile_worker.add_job('task', json_build_object('request', $1::bigint), $2, job_key => $3,
			                               job_key_mode => $4) as j`,
			lastRequest.Add(1), queues[a], fmt.Sprint("key ", a),
			[]string{"", "replace", "preserve_run_at"}[producer%3])
	}
	if err != nil {
		return nil, fmt.Errorf("add a keyed job: %w", err)
	}
	added, err := pgx.CollectRows(rows, pgx.RowToStructByName[keyedRow])
	if err != nil {
		return nil, fmt.Errorf("add a keyed job: %w", err)
	}
	return added, nil
}

// While an open transaction has changed the job under a key, the next one that uses the key waits until it commits or rolls
// back, and acts on the result.
func TestKeyedCallsActOnWhatAnOpenTransactionLeaves(t *testing.T) {
	const first = "select graphile_worker.add_job('task', job_key => $1)"
	changes := []struct {
		name    string
		claimed bool
		change  string
	}{
		{"claim", false, "select graphile_worker.get_job_batch('first'), $1::text"},
		{"complete", true, "select graphile_worker.complete_job('first', id) from graphile_worker.jobs where key = $1"},
		{"fail", true, "select graphile_worker.fail_job('first', id, 'test') from graphile_worker.jobs where key = $1"},
		{"fail permanently", true, "select graphile_worker.fail_job('first', id, '', permanent => true) from graphile_worker.jobs where key = $1"},
		{"return", true, "select graphile_worker.return_job('first', id) from graphile_worker.jobs where key = $1"},
		{"replace a waiting job", false, first},
		{"replace a running job", true, first},
		{"remove", false, "select graphile_worker.remove_job($1)"},
		{"add", false, first},
	}
	calls := []struct{ name, sql string }{
		{"add_job", "select id from graphile_worker.add_job('task', '{\"new\":1}', job_key => $1)"},
		{"add_jobs", "select id from graphile_worker.add_jobs(array[('task', '{\"new\":1}', null, null, null, $1, null, null)::graphile_worker.job_spec])"},
		{"remove_job", "select id from graphile_worker.remove_job($1)"},
	}
	db := newDatabase(t)
	changer, caller := db.session(), db.session()
	for _, change := range changes {
		for _, end := range []string{"commit", "rollback"} {
			for _, call := range calls {
				if change.name == "add" && call.name == "remove_job" {
					continue // Nobody waits for a job that is not there yet.
				}
				t.Run(fmt.Sprintf("%s, %s, %s", change.name, end, call.name), func(t *testing.T) {
					changer, caller, key := changer.in(t), caller.in(t), t.Name()
					if change.name != "add" {
						changer.exec(first, key)
					}
					if change.claimed {
						changer.exec("select graphile_worker.get_job_batch('first')")
					}
					found := readKey(changer, key)
					changer.exec("begin")
					changer.exec(change.change, key)
					if end == "commit" {
						found = readKey(changer, key)
					}
					c := start[*int64](caller, call.sql, key)
					c.awaitBlocked(changer)
					changer.exec(end)
					checkKeyed(t, caller, call.name, key, found, c.value())
					caller.exec("delete from graphile_worker._private_jobs")
				})
			}
		}
	}
}

// keyHolder is the job under a key: its id, 0 for none, and whether it could be claimed.
type keyHolder struct {
	ID      int64
	Waiting bool
}

func readKey(s *session, key string) keyHolder {
	s.t.Helper()
	rows, err := s.conn.Query(s.t.Context(), "select id, is_available from graphile_worker._private_jobs where key = $1", key)
	if err != nil {
		s.t.Fatal(err)
	}
	holders, err := pgx.CollectRows(rows, pgx.RowToStructByPos[keyHolder])
	if err != nil {
		s.t.Fatal(err)
	}
	return append(holders, keyHolder{})[0]
}

// checkKeyed checks what a keyed call that found a job did with it and returned.
func checkKeyed(t *testing.T, s *session, name, key string, found keyHolder, returned *int64) {
	t.Helper()
	rest := all[int64](s, "select id from graphile_worker._private_jobs where id = $1", found.ID)
	dead := all[int64](s, "select id from graphile_worker._private_jobs where id = $1 and key is null and attempts >= max_attempts", found.ID)
	holder := readKey(s, key)
	switch {
	case name == "remove_job" && found.ID == 0:
		if returned != nil || holder.ID != 0 {
			t.Errorf("it returned job %v and left %v; want nothing", returned, holder)
		}
	case returned == nil:
		t.Errorf("it returned null, with %v under the key", found)
	case name == "remove_job" && *returned != found.ID:
		t.Errorf("it returned job %d, want %d", *returned, found.ID)
	case name == "remove_job" && holder.ID != 0:
		t.Errorf("it left %v under the key, want nothing", holder)
	case name == "remove_job":
		if !slices.Equal(dead, rest) {
			t.Errorf("the removed job %d could run again", found.ID)
		}
	case holder != keyHolder{*returned, true}:
		t.Errorf("it returned job %d and left %v under the key; want the same, waiting", *returned, holder)
	case found.Waiting && *returned != found.ID:
		t.Errorf("it returned job %d, want the waiting job %d", *returned, found.ID)
	case !found.Waiting && *returned == found.ID:
		t.Errorf("it returned job %d, which runs or failed for good; want a new one", found.ID)
	case !found.Waiting && !slices.Equal(dead, rest):
		t.Errorf("the replaced job %d could run again", found.ID)
	case !one[bool](s, "select payload ->> 'new' = '1' from graphile_worker._private_jobs where id = $1", *returned):
		t.Errorf("job %d has not the payload of the request", *returned)
	}
}

// A worker that returns a job after its key was taken over does not revive the job.
func TestReplacedAndRemovedRunningJobsStayDead(t *testing.T) {
	db := newDatabase(t)
	worker, other := db.session(), db.session()
	for _, takeOver := range []string{
		"select graphile_worker.add_job('task', job_key => 'key', run_at => 'infinity')",
		"select graphile_worker.add_jobs(array[('task', null, null, 'infinity', null, 'key', null, null)::graphile_worker.job_spec])",
		"select graphile_worker.remove_job('key')",
	} {
		for _, outcome := range []string{
			"select exists (select from graphile_worker.return_job('worker', $1, $2))",
			"select exists (select from graphile_worker.return_job_batch('worker', array[$1::bigint], array[$2::bigint]))",
			"select exists (select from graphile_worker.fail_job('worker', $1, 'test', $2, retry_in => '0'))",
			"select graphile_worker.force_unlock_workers(array['worker']) is not null and $1::bigint <> $2::bigint",
			// Node's refund.
			"with j as (update graphile_worker._private_jobs set attempts = greatest(0, attempts - 1), locked_at = null, locked_by = null where id = $1 and $2::bigint is not null returning id) select exists (select from j)",
		} {
			t.Run(takeOver+"; "+outcome, func(t *testing.T) {
				worker, other := worker.in(t), other.in(t)
				worker.exec("select graphile_worker.add_job('task', job_key => 'key')")
				job := worker.claimOne("worker")
				other.exec(takeOver)
				if !one[bool](worker, outcome, job.ID, job.Lease) {
					t.Error("the outcome was refused")
				}
				if jobs := other.claim("other", 2); len(jobs) != 0 {
					t.Errorf("%v ran again", jobs)
				}
				other.exec("delete from graphile_worker._private_jobs")
			})
		}
	}
}
