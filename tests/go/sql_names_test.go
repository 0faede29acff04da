package gotest

import (
	"fmt"
	"testing"
)

const (
	collect = "select sum(rows)::bigint from graphile_worker.cleanup(array['GC_TASK_IDENTIFIERS', 'GC_JOB_QUEUES'], force => true)"

	// strays are the jobs whose task or queue has no row.
	strays = `
		select count(*)
		  from graphile_worker._private_jobs as j
		 where not exists (select from graphile_worker._private_tasks as t where t.id = j.task_id)
		    or (j.job_queue_id is not null
		        and not exists (select from graphile_worker._private_job_queues as q where q.id = j.job_queue_id))`
)

// Two calls with the same names or keys in opposite order take them in one order: the second waits for the first, not for
// what the first is going to wait for.
func TestOppositeOrdersOfAddJobsQueueUp(t *testing.T) {
	const addBoth = "select graphile_worker.add_job('task', job_key => key) from unnest(array['a', 'b']) as key"
	const twoSpecs = `
		select id from graphile_worker.add_jobs(array[
		  ($1, null, $2, null, null, $3, null, null)::graphile_worker.job_spec,
		  ($4, null, $5, null, null, $6, null, null)::graphile_worker.job_spec])`
	name := "task"
	for _, c := range []struct {
		name   string
		before []string
		hold   string // Holds what b is of.
		a, b   [3]*string
	}{
		{"new tasks", nil, "select graphile_worker.add_job('b')", [3]*string{new("a")}, [3]*string{new("b")}},
		{"new queues", nil, "select graphile_worker.add_job('task', queue_name => 'b')",
			[3]*string{&name, new("a")}, [3]*string{&name, new("b")}},
		{"new keys", nil, "select graphile_worker.add_job('task', job_key => 'b')",
			[3]*string{&name, nil, new("a")}, [3]*string{&name, nil, new("b")}},
		{"keys of waiting jobs", []string{addBoth},
			"select graphile_worker.add_job('task', job_key => 'b')",
			[3]*string{&name, nil, new("a")}, [3]*string{&name, nil, new("b")}},
		{"keys of running jobs", []string{addBoth, "select graphile_worker.get_job_batch('worker', batch_size => 2)"},
			"select graphile_worker.add_job('task', job_key => 'b')",
			[3]*string{&name, nil, new("a")}, [3]*string{&name, nil, new("b")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := newDatabase(t)
			holder, first, second := db.session(), db.session(), db.session()
			makeUnusedNames(holder, "task")
			for _, sql := range c.before {
				holder.exec(sql)
			}
			holder.exec("begin")
			holder.exec(c.hold)
			forward := start[int64](first, twoSpecs, c.a[0], c.a[1], c.a[2], c.b[0], c.b[1], c.b[2])
			forward.awaitBlocked(holder)
			backward := start[int64](second, twoSpecs, c.b[0], c.b[1], c.b[2], c.a[0], c.a[1], c.a[2])
			backward.awaitBlocked(first)
			holder.exec("rollback")
			for _, call := range []*call[int64]{forward, backward} {
				if ids, err := call.end(); err != nil || len(ids) != 2 {
					t.Errorf("add_jobs: %v, error %v; want two ids", ids, err)
				}
			}
		})
	}
}

// A call that waits for a transaction that creates a name holds no lock for which that transaction may wait.
func TestWhoWaitsForANewNameHoldsNoJob(t *testing.T) {
	for _, name := range []string{"add_job('new', job_key => 'key')",
		"add_job('old', queue_name => 'new', job_key => 'key')"} {
		db := newDatabase(t)
		maker, other := db.session(), db.session()
		maker.exec("select graphile_worker.add_job('old', job_key => 'key')")
		maker.exec("begin")
		maker.exec("select graphile_worker.add_job('new', queue_name => 'new')")
		waiting := start[int64](other, "select id from graphile_worker."+name)
		waiting.awaitBlocked(maker)
		id := one[int64](maker, "select id from graphile_worker.add_job('old', job_key => 'key')")
		maker.exec("commit")
		if got := waiting.value(); got != id {
			t.Errorf("%s returns job %d, want the one that waits, %d", name, got, id)
		}
	}
}

// cleanup never takes the name that an open transaction has given to a job, nor waits for it.
func TestCleanupLeavesTheNamesOfOpenTransactions(t *testing.T) {
	db := newDatabase(t)
	cleaner := db.session()
	for _, isolation := range []string{readCommitted, repeatableRead, serializable} {
		for _, add := range addCalls {
			t.Run(isolation+", "+add.name, func(t *testing.T) {
				producer, cleaner := db.in(t).sessionAt(isolation), cleaner.in(t)
				makeUnusedNames(cleaner, "name")
				producer.exec("begin")
				producer.exec(add.sql)
				if rows := one[int64](cleaner, collect); rows != 0 {
					t.Errorf("cleanup removed %d names in use", rows)
				}
				producer.exec("commit")
				if n := one[int](cleaner, strays); n != 0 {
					t.Errorf("%d jobs have a task or queue without a row", n)
				}
				cleaner.exec("delete from graphile_worker._private_jobs")
				if rows := one[int64](cleaner, collect); rows != 2 {
					t.Errorf("cleanup removed %d unused names, want 2", rows)
				}
			})
		}
	}
}

// A producer that uses a name which cleanup has deleted, but not committed, waits, and then creates the name again. Above READ
// COMMITTED, where its snapshot could not contain the new row, it gets 40001.
func TestProducersWaitForCleanupAndMakeTheNameAnew(t *testing.T) {
	db := newDatabase(t)
	cleaner := db.session()
	for _, isolation := range []string{readCommitted, repeatableRead, serializable} {
		for _, add := range addCalls {
			for _, end := range []string{"commit", "rollback"} {
				t.Run(isolation+", "+add.name+", "+end, func(t *testing.T) {
					producer, cleaner := db.in(t).sessionAt(isolation), cleaner.in(t)
					makeUnusedNames(cleaner, "name")
					cleaner.exec("begin")
					if rows := one[int64](cleaner, collect); rows != 2 {
						t.Fatalf("cleanup removed %d names, want 2", rows)
					}
					c := start[int64](producer, add.sql)
					c.awaitBlocked(cleaner)
					cleaner.exec(end)
					_, err := c.end()
					if want := refusalAt(isolation, end == "commit"); code(err) != want {
						t.Errorf("add: %v, want SQLSTATE %q", err, want)
					}
					if n := one[int](cleaner, strays); n != 0 {
						t.Errorf("%d jobs have a task or queue without a row", n)
					}
					cleaner.exec("delete from graphile_worker._private_jobs")
					cleaner.exec(collect)
				})
			}
		}
	}
}

// A transaction that has read the names before cleanup took them must not give jobs the ids it read.
func TestProducersWithAnOlderSnapshotDoNotUseACollectedName(t *testing.T) {
	db := newDatabase(t)
	cleaner := db.session()
	for _, isolation := range []string{readCommitted, repeatableRead, serializable} {
		for _, add := range addCalls {
			for _, again := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, made anew %t", isolation, add.name, again), func(t *testing.T) {
					producer, cleaner := db.in(t).sessionAt(isolation), cleaner.in(t)
					makeUnusedNames(cleaner, "name")
					producer.exec("begin")
					producer.exec("select id, identifier from graphile_worker._private_tasks")
					if rows := one[int64](cleaner, collect); rows != 2 {
						t.Fatalf("cleanup removed %d names, want 2", rows)
					}
					if again {
						makeUnusedNames(cleaner, "name")
					}
					_, err := query[int64](t.Context(), producer.conn, add.sql)
					if want := refusalAt(isolation, true); code(err) != want {
						t.Errorf("add: %v, want SQLSTATE %q", err, want)
					}
					producer.exec("commit")
					if n := one[int](cleaner, strays); n != 0 {
						t.Errorf("%d jobs have a task or queue without a row", n)
					}
					cleaner.exec("delete from graphile_worker._private_jobs")
					cleaner.exec(collect)
				})
			}
		}
	}
}

// Any role may take advisory locks. A session that holds all of the queue's locks stops no producer; meanwhile names are not
// collected.
func TestAdvisoryLocksOfAStrangerStopNoProducer(t *testing.T) {
	db := newDatabase(t)
	stranger, cleaner := db.session(), db.session()
	holdAllNames(stranger)
	for _, isolation := range []string{readCommitted, repeatableRead, serializable} {
		for _, add := range addCalls {
			for _, there := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s, %s, names there %t", isolation, add.name, there), func(t *testing.T) {
					producer, cleaner, stranger := db.in(t).sessionAt(isolation), cleaner.in(t), stranger.in(t)
					if there {
						makeUnusedNames(cleaner, "name")
					}
					producer.exec("begin")
					producer.exec("set local statement_timeout = '20s'")
					producer.exec(add.sql)
					stranger.exec("select pg_advisory_unlock_all()")
					if rows := one[int64](cleaner, collect); rows != 0 {
						t.Errorf("cleanup removed %d names in use", rows)
					}
					producer.exec("commit")
					if n := one[int](cleaner, strays); n != 0 {
						t.Errorf("%d jobs have a task or queue without a row", n)
					}
					cleaner.exec("delete from graphile_worker._private_jobs")
					holdAllNames(stranger)
					if rows := one[int64](cleaner, collect); rows != 0 {
						t.Errorf("cleanup removed %d names that a stranger holds", rows)
					}
					stranger.exec("select pg_advisory_unlock_all()")
					if rows := one[int64](cleaner, collect); rows != 2 {
						t.Errorf("cleanup removed %d unused names, want 2", rows)
					}
					holdAllNames(stranger)
				})
			}
		}
	}
}

// holdAllNames takes every advisory lock by which names are held.
func holdAllNames(s *session) {
	s.t.Helper()
	s.exec("select pg_advisory_lock(7239152::bigint * 4294967296 + n) from generate_series(0, 127) as n")
}

// addCalls return ids of jobs of the task "name" in the queue "name".
var addCalls = []struct{ name, sql string }{
	{"add_job", "select id from graphile_worker.add_job('name', queue_name => 'name')"},
	{"add_job under a key", "select id from graphile_worker.add_job('name', queue_name => 'name', job_key => 'key')"},
	{"add_jobs", "select id from graphile_worker.add_jobs(array[('name', null, 'name', null, null, null, null, null)::graphile_worker.job_spec])"},
	{"add_jobs under a key", "select id from graphile_worker.add_jobs(array[('name', null, 'name', null, null, 'key', null, null)::graphile_worker.job_spec])"},
}

// makeUnusedNames leaves a task and a queue of this name without a job.
func makeUnusedNames(s *session, name string) {
	s.t.Helper()
	s.exec("select graphile_worker.complete_jobs(array[id]) from graphile_worker.add_job($1, queue_name => $1)", name)
}

// refusalAt is the SQLSTATE to expect at an isolation level when the names are gone.
func refusalAt(isolation string, gone bool) string {
	if gone && isolation != readCommitted {
		return "40001"
	}
	return ""
}

func TestCleanupKeepsTaskNamesThatForeignWorkersMayHaveCached(t *testing.T) {
	const collectTasks = "select rows from graphile_worker.cleanup(array['GC_TASK_IDENTIFIERS'], force => $1)"
	s := newDatabase(t).session()
	makeUnusedNames(s, "name")
	s.exec("select graphile_worker.add_job('task')")
	s.claimOne("worker")
	if _, err := query[int64](t.Context(), s.conn, collectTasks, false); code(err) != "GWCFW" {
		t.Errorf("cleanup beside a foreign worker: %v, want SQLSTATE GWCFW", err)
	}
	s.exec("select graphile_worker.register_worker('worker')")
	if rows := one[int64](s, collectTasks, false); rows != 1 {
		t.Errorf("cleanup beside a registered worker removed %d names, want 1", rows)
	}
	makeUnusedNames(s, "name")
	s.exec("select graphile_worker.deregister_worker('worker')")
	if rows := one[int64](s, collectTasks, true); rows != 1 {
		t.Errorf("cleanup by force removed %d names, want 1", rows)
	}
}
