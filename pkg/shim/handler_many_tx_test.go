package shim_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/shim"
)

// manyOrders registers the handler of orders that are written in one transaction. It does what each of them says.
func (q *queue) manyOrders(w *worker, most int, options ...shim.TaskOption) {
	shim.HandleManyTx(w.Worker, "order", most, func(ctx context.Context, tx pgx.Tx, orders []order,
		jobs []*shim.Job) error {
		for i, o := range orders {
			if err := handleOrder(ctx, tx, o, jobs[i]); err != nil {
				return err
			}
		}
		return nil
	}, options...)
}

// transactions returns how many transactions have written the orders.
func (q *queue) transactions() int {
	q.t.Helper()
	return value[int](q, `select count(distinct transaction) from orders`)
}

func TestJobsOfAManyTxHandlerShareATransactionInTheirOrder(t *testing.T) {
	q := newOrders(t)
	q.addOrders(400, nil)
	w := q.worker(shim.Config{Concurrency: 1})
	events := record(w)
	most := 0
	shim.HandleManyTx(w.Worker, "order", 100, func(ctx context.Context, tx pgx.Tx, orders []order,
		jobs []*shim.Job) error {
		most = max(most, len(jobs))
		for i, o := range orders {
			if err := errors.Join(write(ctx, tx, o.N), jobs[i].SetResult(o.N)); err != nil {
				return err
			}
		}
		return nil
	})
	q.exec(`select graphile_worker.keep_task('order', '1 day', results => true)`)
	runOnce(t, w)
	q.wantOrders(400)
	q.wantLeft("")
	if n := q.transactions(); n >= 400 || most < 2 ||
		most > 100 { // how many share one depends on how fast the machine is
		t.Errorf("there were %d transactions, of up to %d jobs", n, most)
	}
	// Answers to concurrent claims may overtake each other, so only the jobs of one call have an order.
	if n := value[int](q, `
		select count(*)
		  from (select n, lag(n) over (partition by transaction order by ctid) as before from orders) as o
		 where before > n`); n > 0 {
		t.Errorf("%d orders were written out of order", n)
	}
	all := events()
	if started, completed := len(only[shim.JobStarted](all)), len(ends(all)); started != 400 || completed != 400 {
		t.Errorf("%d jobs were started, %d were reported", started, completed)
	}
	if n := value[int](q, `select count(*) from graphile_worker.job_results(array(select generate_series(1, 400))) where result::text::integer = id`); n != 400 {
		t.Errorf("%d results were kept", n)
	}
}

func TestOnlyTheJobThatFailsAloneHasFailed(t *testing.T) {
	for do, c := range map[string]struct{ left, lastError string }{
		"fail":    {"200:1 scheduled", "no such order"},
		"discard": {"200:3 failed", "no such order"},
		"snooze":  {"200:0 scheduled", ""},
		"panic":   {"200:1 scheduled", "panic: no"},
		"exit":    {"200:1 scheduled", "handler ended its goroutine"},
		"abort":   {"200:1 scheduled", "the transaction is aborted by an error of a statement"},
		"later":   {"200:1 scheduled", "Not 200."},
	} {
		t.Run(do, func(t *testing.T) {
			q := newOrders(t)
			q.retryLater()
			q.exec(`
				select graphile_worker.keep_task('order', '1 day', results => true), graphile_worker.set_setting('max_result', '1024');
				create function check_order() returns trigger language plpgsql as $$
				begin
				  if new.n = 200 then raise exception 'Not 200.'; end if;
				  return null;
				end $$`)
			if do == "later" {
				q.exec(`create constraint trigger check_order after insert on orders deferrable initially deferred for each row execute procedure check_order()`)
			}
			q.addOrders(someOrders, map[int]string{200: do})
			w := q.worker(shim.Config{Concurrency: 1})
			events := record(w)
			q.manyOrders(w, 50)
			runOnce(t, w)
			q.wantOrders(someOrders, 200)
			q.wantLeft(c.left)
			if n := q.transactions(); n > 200 {
				t.Errorf("there were %d transactions", n)
			}
			if last := value[string](q, `select coalesce(max(last_error), '') from graphile_worker._private_jobs`); !strings.Contains(last, c.lastError) {
				t.Errorf("last error is %q, want %q", last, c.lastError)
			}
			all := events()
			if ends, started := len(ends(all)), len(only[shim.JobStarted](all)); ends != someOrders ||
				started != someOrders {
				t.Errorf("%d jobs were started, %d outcomes were reported", started, ends)
			}
		})
	}
}

// someOrders are enough for the worker to learn that they are short, so that it calls the handler for several of them.
const someOrders = 300

// group is the first call for several orders, and the calls that follow.
type group struct {
	orders []int // their numbers
	after  [][]int
}

// inGroup registers a handler that calls within in its first call for at least three jobs, after it has written the
// orders.
func (q *queue) inGroup(w *worker, within func(ctx context.Context, jobs []*shim.Job) error,
	options ...shim.TaskOption) *group {
	g := &group{}
	shim.HandleManyTx(w.Worker, "order", 10, func(ctx context.Context, tx pgx.Tx, orders []order,
		jobs []*shim.Job) error {
		var numbers []int
		for _, o := range orders {
			numbers = append(numbers, o.N)
			if err := write(ctx, tx, o.N); err != nil {
				return err
			}
		}
		switch {
		case g.orders != nil:
			g.after = append(g.after, numbers)
		case len(jobs) > 2:
			g.orders = numbers
			return within(ctx, jobs)
		}
		return nil
	}, options...)
	return g
}

func TestACanceledOrLostJobRollsTheCallBackAndTheOthersRunAgainWithoutIt(t *testing.T) {
	for name, c := range map[string]struct {
		sql, left string
		awaits    bool
	}{
		"canceled": {`select graphile_worker.cancel_jobs(array[$1::bigint])`, "%d:3 failed", true},
		"lost": {`update graphile_worker._private_jobs set locked_by = 'other' where id = $1`,
			"%d:1 running", true},
		"lost, without notice": {`update graphile_worker._private_jobs set locked_by = 'other' where id = $1`,
			"%d:1 running", false},
	} {
		t.Run(name, func(t *testing.T) {
			q := newOrders(t)
			q.beatQuickly()
			q.addOrders(someOrders, nil)
			w := q.worker(shim.Config{Concurrency: 1})
			g := q.inGroup(w, func(ctx context.Context, jobs []*shim.Job) error {
				q.exec(c.sql, jobs[1].ID)
				if !c.awaits {
					return nil
				}
				select {
				case <-ctx.Done():
					return nil // what it returns does not matter
				case <-time.After(patience):
					return errors.New("the context did not end")
				}
			})
			runOnce(t, w)
			gone := g.orders[1]
			q.wantOrders(someOrders, gone)
			q.wantLeft(fmt.Sprintf(c.left, gone))
			if want := slices.Delete(slices.Clone(g.orders), 1, 2); !slices.Equal(g.after[0], want) {
				t.Errorf("after a call for the orders %v there was one for %v, want %v", g.orders, g.after[0], want)
			}
		})
	}
}

func TestTheTimeoutIsThatOfEachCall(t *testing.T) {
	q := newOrders(t)
	q.addOrders(someOrders, nil)
	w := q.worker(shim.Config{Concurrency: 1})
	g := q.inGroup(w, func(ctx context.Context, jobs []*shim.Job) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}, shim.Timeout(time.Second))
	runOnce(t, w)
	q.wantOrders(someOrders)
	q.wantLeft("")
	for i, n := range g.orders {
		if !slices.Equal(g.after[i], []int{n}) {
			t.Errorf("after a call for the orders %v there was one for %v, want one for %d", g.orders, g.after[i], n)
		}
	}
}

func TestAnInterruptedCallReturnsAllItsJobsUncounted(t *testing.T) {
	q := newOrders(t)
	q.addOrders(someOrders, nil)
	w := q.worker(shim.Config{Concurrency: 1, Grace: -1})
	inside := make(chan struct{})
	g := q.inGroup(w, func(ctx context.Context, jobs []*shim.Job) error {
		close(inside)
		<-ctx.Done()
		return context.Cause(ctx)
	})
	w.start()
	receive(t, inside)
	w.Kill()
	if err := w.wait(); !errors.Is(err, shim.ErrInterrupted) {
		t.Errorf("Run returned %v", err)
	}
	if n := value[int](q, `select count(*) from graphile_worker.jobs where attempts > 0 or locked_at is not null`); n > 0 {
		t.Errorf("%d jobs have lost an attempt", n)
	}
	q.wantOrders(g.orders[0] - 1)
	if written, left := value[int](q, `select count(*) from orders`), q.jobs(); written != g.orders[0]-1 ||
		written+left != someOrders || g.after != nil {
		t.Errorf("%d orders were written, %d are left, and there were calls for %v", written, left, g.after)
	}
}

// Middleware is called for each of the jobs; one that it does not pass on is not part of the transaction.
func TestMiddlewareDecidesAboutEachJobOfATransaction(t *testing.T) {
	q := newOrders(t)
	q.retryLater()
	q.addOrders(someOrders, map[int]string{200: "fail"})
	keepsOut := func(next shim.Handler) shim.Handler {
		return func(ctx context.Context, job *shim.Job) error {
			if strings.Contains(string(job.Payload), `: 250`) {
				return errNo
			}
			return next(ctx, job)
		}
	}
	w := q.worker(shim.Config{Concurrency: 1, Middleware: []shim.Middleware{keepsOut}})
	q.manyOrders(w, 20)
	runOnce(t, w)
	q.wantOrders(someOrders, 200, 250)
	q.wantLeft("200:1 scheduled, 250:1 scheduled")
}
