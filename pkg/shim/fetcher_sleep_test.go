package shim_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

const (
	setNotify = `select graphile_worker.set_setting('notify', $1)`
	isMarked  = `select exists (select from graphile_worker._gw_sleepers where until > clock_timestamp())`
)

// startPinged starts a worker, which soon falls asleep and reports when it starts each job ping.
func startPinged(q *queue, cfg shim.Config) (*worker, <-chan time.Time) {
	q.t.Helper()
	started := make(chan time.Time, 1)
	w := q.worker(cfg)
	w.Handle("ping", func(context.Context, *shim.Job) error {
		started <- time.Now()
		return nil
	})
	w.start()
	if !cfg.PollOnly {
		q.awaitListening()
	}
	return w, started
}

// claimSeen is whether the last thing that some connection did was to claim, since $1.
const claimSeen = `exists (select from pg_stat_activity
	where datname = current_database() and query like '%get_job_batch%' and state = 'idle' and query_start > $1)`

// look makes the worker search for jobs, and waits until it has. It queries repeatedly, because the next statement of
// the worker may hide the claim.
func (q *queue) look() {
	q.t.Helper()
	q.await(`select case when `+claimSeen+` then true else pg_notify('jobs:insert', '') is null end`,
		value[time.Time](q, `select clock_timestamp()`))
}

// awaitClaim waits until a claim is over that began since.
func (q *queue) awaitClaim(since time.Time) {
	q.t.Helper()
	q.await(`select `+claimSeen, since)
}

// commitAcrossSleep adds a job in a transaction that begins before the worker falls asleep and is three seconds old
// when it commits, and returns when it was about to commit.
func commitAcrossSleep(q *queue) time.Time {
	q.t.Helper()
	q.exec(`delete from graphile_worker._gw_sleepers`) // as after a backlog
	tx, err := q.pool.Begin(q.t.Context())
	if err != nil {
		q.t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.Background()) }()
	if _, err := tx.Exec(q.t.Context(), `select graphile_worker.add_job('ping')`); err != nil {
		q.t.Fatal(err)
	}
	q.exec(`notify "jobs:insert"`)
	q.await(isMarked)
	q.await(`select clock_timestamp() > xact_start + interval '3 seconds' from pg_stat_activity where pid = $1`,
		tx.Conn().PgConn().PID())
	committing := time.Now()
	if err := tx.Commit(q.t.Context()); err != nil {
		q.t.Fatal(err)
	}
	return committing
}

// The machine may be busy for a while. A missed job would be found only by chance.
func TestAJobOfATransactionAsOldAsTheSleepStartsWithin50Milliseconds(t *testing.T) {
	const limit, tries = 50 * time.Millisecond, 10
	q := newQueue(t)
	q.exec(setNotify, "idle")
	_, started := startPinged(q, shim.Config{})
	for try := range tries {
		committing := commitAcrossSleep(q)
		took := receive(t, started).Sub(committing)
		t.Logf("started after %s", took)
		if took <= limit {
			return
		}
		if try == tries-1 {
			t.Errorf("never started within %s of the commit", limit)
		}
	}
}

// This is what the test before it would see of a worker that does not wait for transactions in flight. Somebody else's
// transaction may make it look at the right moment by chance, but not each time.
func TestWithoutAskingForTransactionsInFlightTheJobIsMissed(t *testing.T) {
	q := newQueue(t)
	q.exec(setNotify, "idle")
	q.exec(`create or replace function graphile_worker.still_in_flight(transactions bigint[] default null)
	          returns bigint[] language sql as $$ select '{}'::bigint[] $$`)
	_, started := startPinged(q, shim.Config{})
	for range 3 {
		committed := commitAcrossSleep(q)
		q.await(`select clock_timestamp() > $1::timestamptz + interval '1 second'`, committed)
		if value[bool](q, `select exists (select from graphile_worker.jobs where attempts = 0)`) {
			q.exec(`notify "jobs:insert"`)
			receive(t, started)
			return
		}
		receive(t, started)
	}
	t.Error("the job was not missed")
}

// It commits after the claim and before the worker asks: then it is not among those in flight, and was not seen.
func TestAJobThatIsCommittedJustBeforeTheQuestionForTransactionsStarts(t *testing.T) {
	q := newQueue(t)
	_, started := startPinged(q, shim.Config{})
	q.look()
	q.exec(`alter function graphile_worker.still_in_flight rename to asked;
	        create function graphile_worker.still_in_flight(transactions bigint[] default null) returns bigint[] language sql as
	          $$ select pg_advisory_xact_lock_shared(1); select graphile_worker.asked(transactions) $$`)
	asking, err := q.pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = asking.Rollback(context.Background()) }()
	if _, err := asking.Exec(t.Context(), `select pg_advisory_xact_lock(1)`); err != nil {
		t.Fatal(err)
	}
	q.exec(setNotify, "idle")
	q.await(`select exists (select from pg_stat_activity
		where datname = current_database() and query like '%still_in_flight%' and wait_event_type = 'Lock')`)
	// As one adds it who looked for sleepers before the mark was there.
	q.exec(`insert into graphile_worker._private_tasks (identifier) values ('ping');
	        insert into graphile_worker._private_jobs (task_id) select id from graphile_worker._private_tasks`)
	if err := asking.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	receive(t, started)
}

// Every claim that finds a job removes the mark, and the next job is added at about the time at which the worker falls
// asleep again, in a transaction that stays open briefly. No other job is announced.
func TestNoJobIsMissedByAWorkerThatKeepsFallingAsleep(t *testing.T) {
	const total = 100
	q := newQueue(t)
	q.exec(setNotify, "idle")
	q.exec(`
		create sequence public.woken;
		create function public.wake_up() returns trigger language plpgsql as $$
		begin
		  delete from graphile_worker._gw_sleepers;
		  perform nextval('public.woken') where found;
		  return null;
		end
		$$;
		create trigger wake_up after update of locked_at on graphile_worker._private_jobs
		  for each row execute function public.wake_up()`)
	_, started := startPinged(q, shim.Config{Concurrency: 2, QuietSuccess: true})
	for range total {
		q.exec(`
			do $$
			begin
			  perform pg_sleep(0.003 * random());
			  perform graphile_worker.add_job('ping');
			  perform pg_sleep(0.01 * random());
			end
			$$`)
		receive(t, started)
	}
	woken := value[int64](q, `select last_value from public.woken`)
	t.Logf("fell asleep %d times", woken)
	if woken < 20 {
		t.Errorf("fell asleep %d times only", woken)
	}
}

// A claim that is empty by chance in the last second before a full one keeps the mark; not each time.
func TestAWorkerWithMoreThanItCanDoNeedNotBeTold(t *testing.T) {
	q := newQueueOn(t, pgtest.Server(t, nil))
	q.exec(setNotify, "idle")
	w := q.worker(shim.Config{})
	running, release := make(chan struct{}, 2), make(chan struct{})
	w.Handle("long", func(context.Context, *shim.Job) error {
		running <- struct{}{}
		<-release
		return nil
	})
	w.start()
	q.awaitListening()
	const isAwake = `select not exists (select from graphile_worker._gw_sleepers where until > clock_timestamp())`
	for range 30 {
		q.look()
		q.await(isMarked)
		aSecondLater := `select clock_timestamp() > $1::timestamptz + interval '1 second'`
		q.await(aSecondLater, value[time.Time](q, `select clock_timestamp()`))
		q.add("long", 2)
		receive(t, running)
		q.await(`select (`+isAwake+`) or (`+aSecondLater+`)`, value[time.Time](q, `select clock_timestamp()`))
		awake := value[bool](q, isAwake)
		release <- struct{}{}
		receive(t, running)
		release <- struct{}{}
		if awake {
			q.await(isMarked)
			return
		}
	}
	t.Error("it never was awake")
}

func TestEveryJobIsPickedUpWithoutAPoll(t *testing.T) {
	const total = 500
	for _, mode := range []string{"always", "idle"} {
		t.Run(mode, func(t *testing.T) {
			q := newQueue(t)
			q.exec(setNotify, mode)
			_, started := startPinged(q, shim.Config{QuietSuccess: true})
			conn, err := q.pool.Acquire(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Release()
			delays := make([]time.Duration, total)
			for i := range delays {
				if _, err := conn.Exec(t.Context(), `select from graphile_worker.add_job('ping')`); err != nil {
					t.Fatal(err)
				}
				committed := time.Now()
				delays[i] = max(0, receive(t, started).Sub(committed))
			}
			slices.Sort(delays)
			t.Logf("from commit to start: p50 %s, p99 %s, most %s", delays[total/2], delays[total*99/100],
				delays[total-1])
		})
	}
}

func TestWithNotifyNeverJobsAreFoundByPolling(t *testing.T) {
	q := newQueue(t)
	q.exec(setNotify, "never")
	_, started := startPinged(q, shim.Config{PollInterval: 20 * time.Millisecond})
	for range 3 {
		q.add("ping", 1)
		receive(t, started)
	}
	q.awaitClaim(value[time.Time](q, `select clock_timestamp()`)) // which finds nothing
	if value[bool](q, isMarked) {
		t.Error("the worker is marked asleep")
	}
}

func TestAWorkerThatOnlyPollsIsNotMarked(t *testing.T) {
	q := newQueue(t)
	q.exec(setNotify, "idle")
	_, started := startPinged(q, shim.Config{PollInterval: 20 * time.Millisecond, PollOnly: true})
	for range 3 {
		q.add("ping", 1)
		receive(t, started)
	}
	q.awaitClaim(value[time.Time](q, `select clock_timestamp()`)) // which finds nothing
	if value[bool](q, isMarked) {
		t.Error("the worker is marked asleep")
	}
}

func TestTheSettingMayChangeWhileWorkersRun(t *testing.T) {
	q := newQueue(t)
	_, started := startPinged(q, shim.Config{})
	waiting := 0
	for range 5 {
		for _, mode := range []string{"idle", "always", "idle", "never", "idle", "never", "always"} {
			q.look()
			q.exec(setNotify, mode)
			q.add("ping", 1)
			waiting++
			if mode == "never" {
				continue // to change that tells of what was added meanwhile
			}
			for ; waiting > 0; waiting-- {
				receive(t, started)
			}
		}
	}
}

func TestAfterTheLossOfItsConnectionTheWorkerIsMarkedAnew(t *testing.T) {
	q := newQueue(t)
	q.exec(setNotify, "idle")
	_, started := startPinged(q, shim.Config{})
	q.await(isMarked)
	q.exec(`truncate graphile_worker._gw_sleepers`) // as a crash of the server does
	q.exec(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen %'`)
	q.await(isMarked)
	q.add("ping", 1)
	receive(t, started)
}

func TestTheMarkIsRenewedByPollingAndGoesWithTheWorker(t *testing.T) {
	q := newQueue(t)
	q.exec(setNotify, "idle")
	w, _ := startPinged(q, shim.Config{PollInterval: 20 * time.Millisecond})
	q.await(isMarked)
	over := value[time.Time](q, `update graphile_worker._gw_sleepers set until = clock_timestamp() + interval '4 seconds' returning until`)
	q.await(`select until > $1 from graphile_worker._gw_sleepers`, over)
	if !value[bool](q, `select until - interval '10 seconds' < $1 from graphile_worker._gw_sleepers`, over) {
		t.Error("the mark was over before it was renewed")
	}
	w.stop()
	if value[bool](q, isMarked) {
		t.Error("the worker is gone, and marked asleep")
	}
}

// The mark was set by a claim whose answer was lost: the next claim finds it.
func TestAfterALostAnswerTheWorkerLooksAgainAlthoughItIsMarked(t *testing.T) {
	q := newQueue(t)
	q.exec(setNotify, "idle")
	w, started := startPinged(q, shim.Config{})
	q.add("ping", 1)
	receive(t, started)
	q.await(`select not exists (select from graphile_worker.jobs)`)
	q.await(isMarked)
	q.exec(`delete from graphile_worker._gw_sleepers`)

	begin := func(sql string) pgx.Tx {
		tx, err := q.pool.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
		if _, err := tx.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
		return tx
	}
	task := value[int](q, `select id from graphile_worker._private_tasks`)
	// As add_job writes it while nobody is marked, without the lock that would keep the next step from its own.
	adding := begin(fmt.Sprintf(`insert into graphile_worker._private_jobs (task_id) values (%d)`, task))
	blocking := begin(`lock table graphile_worker._private_tasks`)
	q.exec(`notify "jobs:insert"`)
	const claiming = `from pg_stat_activity
		where datname = current_database() and query like '%get_job_batch%' and wait_event_type = 'Lock'`
	q.await(`select exists (select ` + claiming + `)`)
	q.exec(`insert into graphile_worker._gw_sleepers as s values ($1, 'infinity') on conflict (worker_id) do update set until = excluded.until`, w.ID())
	q.exec(`select pg_terminate_backend(pid) ` + claiming)
	w.logs.await(t, "claim failed")
	if err := blocking.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	q.await(`select exists (select from pg_stat_activity
		where datname = current_database() and query ~ 'get_job_batch|still_in_flight' and state = 'idle' and query_start > $1)`,
		value[time.Time](q, `select clock_timestamp()`)) // what follows the claim may cover it up
	if err := adding.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	receive(t, started)
}
