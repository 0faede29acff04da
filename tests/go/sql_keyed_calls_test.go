package gotest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

const (
	debounceWait = 10 * time.Millisecond
	maxWait      = 30 * time.Millisecond
	throttleTime = 25 * time.Millisecond
)

// keyedCalls are the calls that decide by a key, with the key as parameter.
var keyedCalls = map[string]string{
	"once": "select * from graphile_worker.add_job_once('task', '[1]', $1, '1 hour')",
	"debounce": fmt.Sprintf("select * from graphile_worker.debounce_job('task', '[1]', $1, '%v', '%v')", debounceWait,
		maxWait),
	"throttle": fmt.Sprintf("select * from graphile_worker.throttle_job('task', '[1]', $1, '%v')", throttleTime),
}

// keyedAnswer is the answer of a call that was committed.
type keyedAnswer struct {
	ID       int64
	State    string
	DueAt    *time.Time
	Revision *int32
	IsNew    bool

	kind, key        string
	sent, returnedAt time.Time
}

func TestCallsUnderAKeyHaveTheJobsThatTheyShouldHoweverTheyRace(t *testing.T) {
	for _, isolation := range []string{readCommitted, repeatableRead} {
		t.Run(isolation, func(t *testing.T) {
			db := newDatabase(t)
			var mu sync.Mutex
			var answers []keyedAnswer
			callers, ctx := errgroup.WithContext(t.Context())
			for range 8 {
				conn := db.sessionAt(isolation).conn
				callers.Go(func() error {
					for n := range 100 {
						answer, committed, err := callUnderAKey(ctx, conn, isolation, n)
						if err != nil {
							return err
						}
						if committed {
							mu.Lock()
							answers = append(answers, answer)
							mu.Unlock()
						}
					}
					return nil
				})
			}
			var done atomic.Bool
			claimers, claimCtx := errgroup.WithContext(t.Context())
			for c := range 2 {
				conn := db.session().conn
				claimers.Go(func() error {
					for !done.Load() {
						_, err := query[bool](claimCtx, conn,
							`select graphile_worker.complete_job(j.worker, j.id, j.lease)
							from (select $1::text as worker, b.* from graphile_worker.get_job_batch($1, batch_size => 2) as b) as j`, fmt.Sprint("worker ", c))
						if err != nil {
							return err
						}
					}
					return nil
				})
			}
			err := callers.Wait()
			done.Store(true)
			if claimErr := claimers.Wait(); err != nil || claimErr != nil {
				t.Fatalf("callers: %v; claimers: %v", err, claimErr)
			}
			for _, fault := range faultsOfKeyedCalls(answers) {
				t.Error(fault)
			}
		})
	}
}

// A call that finds no job under its key may replace one that another session adds before this call does, and that fails until then.
func TestAJobThatFailsDuringACallUnderItsKeyKeepsItsBackOff(t *testing.T) {
	for _, kind := range []string{"debounce", "throttle"} {
		t.Run(kind, func(t *testing.T) {
			db := newDatabase(t)
			other, caller := db.session(), db.session()
			const looked = `waiting := "graphile_worker"._gw_waiting_job(key);`
			other.mutate(kind+"_job", looked, looked+" perform pg_advisory_xact_lock_shared(1);")
			other.exec("select graphile_worker._gw_make_names(array['task'], null)") // otherwise add_job would wait for the call to do so
			other.exec("select pg_advisory_lock(1)")
			call := start[time.Time](caller, strings.Replace(keyedCalls[kind], "*", "due_at", 1), "key")
			call.awaitBlocked(other)
			other.exec("select graphile_worker.add_job('task', job_key => 'key')")
			job := other.claimOne("worker")
			other.exec("select graphile_worker.fail_job('worker', $1, 'failed')", job.ID)
			retryAt := one[time.Time](other, "select run_at from graphile_worker.jobs")
			other.exec("select pg_advisory_unlock(1)")
			if due := call.value(); due.Before(retryAt) {
				t.Errorf("the job is due %v before its next attempt", retryAt.Sub(due))
			}
			if jobs := one[int](other, "select count(*) from graphile_worker.jobs"); jobs != 1 {
				t.Errorf("there are %d jobs, want one", jobs)
			}
		})
	}
}

// A transaction that began while the record of the last call was needed finds it, although it is needed no more.
func TestAThrottledCallInATransactionThatBeganEarlierKeepsTheInterval(t *testing.T) {
	db := newDatabase(t)
	early, other := db.session().conn, db.session().conn
	tx, err := early.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), "select"); err != nil { // begins it
		t.Fatal(err)
	}
	const call = "select due_at from graphile_worker.throttle_job('task', key => 'k', every => '1 millisecond')"
	var first, second time.Time
	if err := other.QueryRow(t.Context(), call).Scan(&first); err != nil {
		t.Fatal(err)
	}
	for isOver := false; !isOver; {
		err := other.QueryRow(t.Context(), "select kept_until < now() from graphile_worker._gw_keyed_calls").Scan(&isOver)
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, sql := range []string{"select graphile_worker.remove_job('k')",
		"select graphile_worker._gw_drop_keyed_calls()"} {
		if _, err := other.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.QueryRow(t.Context(), call).Scan(&second); err != nil {
		t.Fatal(err)
	}
	if gap := second.Sub(first); gap < time.Millisecond {
		t.Errorf("the second job is due %v after the first, want at least 1ms", gap)
	}
}

// callUnderAKey makes a call of any kind in a transaction, and commits or rolls back. Only the first calls under a key of
// once can race, so there are ever new ones.
func callUnderAKey(ctx context.Context, conn *pgx.Conn, isolation string,
	number int) (answer keyedAnswer, committed bool, err error) {
	kind := []string{"once", "debounce", "throttle"}[rand.IntN(3)]
	key := fmt.Sprint(kind, rand.IntN(2))
	if kind == "once" {
		key = fmt.Sprint(kind, number/2)
	}
	committed = rand.IntN(4) > 0
	answer, err = insist(isolation, func() (keyedAnswer, error) {
		sent := time.Now()
		tx, err := conn.Begin(ctx)
		if err != nil {
			return keyedAnswer{}, err
		}
		defer func() { _ = tx.Rollback(ctx) }()
		rows, err := tx.Query(ctx, keyedCalls[kind], key)
		if err != nil {
			return keyedAnswer{}, err
		}
		answer, err := pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[keyedAnswer])
		if err != nil || !committed {
			return keyedAnswer{}, err
		}
		answer.kind, answer.key, answer.sent, answer.returnedAt = kind, key, sent, time.Now()
		return answer, tx.Commit(ctx)
	})
	return answer, committed, err
}

// faultsOfKeyedCalls returns what is wrong with the answers of committed calls. Jobs are claimed and completed meanwhile, so
// each job starts at most once.
func faultsOfKeyedCalls(answers []keyedAnswer) (faults []string) {
	first := map[string]keyedAnswer{} // the call that has added the job, by key and id
	kinds := map[string]int{}
	for _, a := range answers {
		kinds[a.kind]++
		job := fmt.Sprint(a.key, " ", a.ID)
		if !a.IsNew {
			continue
		}
		if _, twice := first[job]; twice {
			faults = append(faults, fmt.Sprintf("two calls have added job %s", job))
		}
		first[job] = a
	}
	if len(kinds) != 3 || len(first) < 20 {
		faults = append(faults, fmt.Sprintf("too little has happened: calls %v, %d jobs", kinds, len(first)))
	}
	for _, a := range answers {
		job := fmt.Sprint(a.key, " ", a.ID)
		adder, known := first[job]
		if !known {
			faults = append(faults, fmt.Sprintf("nobody has added job %s", job))
			continue
		}
		switch a.kind {
		case "debounce":
			if latest := adder.returnedAt.Add(maxWait); a.DueAt.After(latest) {
				faults = append(faults, fmt.Sprintf("job %s is due %v after the first call, want at most %v", job,
					a.DueAt.Sub(adder.returnedAt), maxWait))
			}
			earliest := a.sent.Add(debounceWait)
			if limit := adder.sent.Add(maxWait); limit.Before(earliest) {
				earliest = limit
			}
			if a.DueAt.Before(earliest.Add(-time.Microsecond)) {
				faults = append(faults, fmt.Sprintf("job %s is due %v too early", job, earliest.Sub(*a.DueAt)))
			}
		case "throttle":
			if !a.DueAt.Equal(*adder.DueAt) {
				faults = append(faults, fmt.Sprintf("a call has moved job %s by %v", job, a.DueAt.Sub(*adder.DueAt)))
			}
		}
	}
	for job, a := range first {
		for other, b := range first {
			if job == other || a.key != b.key {
				continue
			}
			switch gap := b.DueAt.Sub(*a.DueAt); {
			case a.kind == "once":
				faults = append(faults, fmt.Sprintf("jobs %s and %s were both added once", job, other))
			case a.kind == "throttle" && gap >= 0 && gap < throttleTime:
				faults = append(faults, fmt.Sprintf("jobs %s and %s are due %v after each other, want at least %v", job,
					other, gap, throttleTime))
			}
		}
	}
	return faults
}
