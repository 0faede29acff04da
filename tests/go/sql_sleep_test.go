package gotest

import (
	"slices"
	"testing"
)

const stillInFlight = "select graphile_worker.still_in_flight($1::bigint[])"

func TestATransactionIsInFlightFromItsFirstWriteToItsEnd(t *testing.T) {
	db := newDatabase(t)
	asker, first, second := db.session(), db.session(), db.session()
	own := func(s *session) int64 { return one[int64](s, "select txid_current()") }

	first.exec("begin")
	first.exec("select from graphile_worker.jobs")
	before := one[[]int64](asker, stillInFlight, nil)
	a := own(first)
	second.exec("begin")
	b := own(second)
	if slices.Contains(before, a) {
		t.Errorf("a transaction that only read is in flight: %v", before)
	}
	if all := one[[]int64](asker, stillInFlight, nil); !slices.Contains(all, a) || !slices.Contains(all, b) {
		t.Errorf("in flight are %v, want %d and %d among them", all, a, b)
	}
	if still := one[[]int64](asker, stillInFlight, []int64{a}); !slices.Equal(still, []int64{a}) {
		t.Errorf("of %d, %v are in flight", a, still)
	}
	first.exec("commit")
	if still := one[[]int64](asker, stillInFlight, []int64{a, b}); !slices.Equal(still, []int64{b}) {
		t.Errorf("after the commit of %d, %v are in flight, want %d", a, still, b)
	}
	second.exec("rollback")
	if still := one[[]int64](asker, stillInFlight, []int64{a, b}); len(still) > 0 {
		t.Errorf("after their ends, %v are in flight", still)
	}
}

// A producer that began before a worker was marked asleep does not see the mark, and does not notify: it is in flight
// afterwards. A producer that adds its job later notifies the worker.
func TestAJobIsAnnouncedOrItsTransactionIsInFlight(t *testing.T) {
	db := newDatabase(t)
	db.watcher.exec("select graphile_worker.set_setting('notify', 'idle')")
	early, between, late, worker := db.session(), db.session(), db.session(), db.session()
	worker.exec(`listen "jobs:insert"`)
	worker.exec("listen mark")

	// One even gets its id between the mark's and its commit: no snapshot lists it until another ends.
	const mark = "select must_look_again from graphile_worker.fall_asleep('worker', lasting => '1 hour')"
	late.exec("begin")
	late.exec("select from graphile_worker.jobs")
	early.exec("begin")
	early.exec("savepoint s")
	early.exec("select graphile_worker.add_job('early')")
	worker.exec("begin")
	if !one[bool](worker, mark) {
		t.Error("the worker need not look again")
	}
	between.exec("begin")
	between.exec("select graphile_worker.add_job('between')")
	worker.exec("commit")
	transactions := one[[]int64](worker, stillInFlight, nil)
	for _, s := range []*session{early, between} {
		if id := one[int64](s, "select txid_current()"); !slices.Contains(transactions, id) {
			t.Errorf("in flight are %v, want %d among them", transactions, id)
		}
	}
	if one[bool](worker, mark) {
		t.Error("the mark is new again")
	}
	late.exec("select graphile_worker.add_job('late')")
	late.exec("commit")
	late.exec("notify mark")
	if counts := countsUntilMark(worker); !slices.Equal(counts, []int{1}) {
		t.Errorf("of the job that was added after the mark, the worker heard %v", counts)
	}
	early.exec("release s")
	for _, s := range []*session{early, between} {
		s.exec("commit")
		s.exec("notify mark")
		if counts := countsUntilMark(worker); counts != nil {
			t.Errorf("of a job that was added before the mark was there, the worker heard %v, want nothing", counts)
		}
		still := one[[]int64](worker, stillInFlight, transactions)
		if len(still) >= len(transactions) {
			t.Errorf("after a commit, of %v are still in flight %v", transactions, still)
		}
		transactions = still
	}
	if tasks := all[string](worker, "select task_identifier from graphile_worker.get_job_batch('worker', batch_size => 9)"); len(tasks) != 3 {
		t.Errorf("claimed %v, want all three", tasks)
	}
}

// A producer that has to wait while it adds a job looks for sleepers after it has written the job.
func TestSleepersAreLookedForAfterTheJobIsWritten(t *testing.T) {
	db := newDatabase(t)
	db.watcher.exec("select graphile_worker.set_setting('notify', 'idle')")
	first, second, worker := db.session(), db.session(), db.session()
	worker.exec(`listen "jobs:insert"`)
	worker.exec("listen mark")
	const add = "select (graphile_worker.add_job('task', job_key => 'key')).id"
	first.exec("begin")
	first.exec(add)
	waiting := start[int64](second, add)
	waiting.awaitBlocked(first)
	worker.exec("select graphile_worker.fall_asleep('worker', lasting => '1 hour')")
	first.exec("commit")
	waiting.value()
	second.exec("notify mark")
	if counts := countsUntilMark(worker); !slices.Equal(counts, []int{1}) {
		t.Errorf("heard of %v, want 1", counts)
	}
}
