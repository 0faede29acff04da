package gotest

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
)

// wakeCase is what statements do, after others, and the counts of the notifications that sleepers then receive.
type wakeCase struct {
	name   string
	before []string
	action []string
	counts []int
}

var wakeCases = func() []wakeCase {
	const (
		queued  = "select graphile_worker.add_job('task', queue_name => 'queue')"
		another = "select graphile_worker.add_job('task', queue_name => 'another')"
		third   = "select graphile_worker.add_job('task', queue_name => 'third')"
		later   = "select graphile_worker.add_job('task', queue_name => 'queue', run_at => now() + interval '1 hour')"
		plain   = "select graphile_worker.add_job('task')"
		keyed   = "select graphile_worker.add_job('task', job_key => 'key')"
		notYet  = "select graphile_worker.add_job('task', job_key => 'key', run_at => now() + interval '1 hour')"
		dedupe  = "select graphile_worker.add_job('task', job_key => 'key', job_key_mode => 'unsafe_dedupe')"
		claim   = "select graphile_worker.get_job_batch('worker', batch_size => 10)"
		expire  = "update graphile_worker._private_jobs set locked_at = locked_at - interval '5 hours'"
		expireQ = "update graphile_worker._private_job_queues set locked_at = locked_at - interval '5 hours'"
		erred   = "update graphile_worker._private_jobs set locked_at = null, locked_by = null, last_error = 'The worker died.'"
		held    = " from graphile_worker.jobs where locked_by = 'worker'"
		waiting = " from graphile_worker.jobs where locked_by is null"
	)
	return []wakeCase{
		{"a completed job frees its queue for a due job", []string{queued, queued, claim},
			[]string{"select graphile_worker.complete_job('worker', id)" + held}, []int{1}},
		{"a batch frees its queue for a due job", []string{queued, queued, claim},
			[]string{"select graphile_worker.complete_job_batch('worker', array[id])" + held}, []int{1}},
		{"a batch frees queues, one of them for a due job", []string{queued, another, another, claim},
			[]string{"select graphile_worker.complete_job_batch('worker', array_agg(id))" + held}, []int{1}},
		{"a batch frees queues, two of them for due jobs", []string{queued, queued, another, another, claim},
			[]string{"select graphile_worker.complete_job_batch('worker', array_agg(id))" + held}, []int{1}},
		{"a batch frees queues for a job that is not due", []string{queued, later, another, claim},
			[]string{"select graphile_worker.complete_job_batch('worker', array_agg(id))" + held}, nil},
		{"a batch frees queues for nobody", []string{queued, another, claim},
			[]string{"select graphile_worker.complete_job_batch('worker', array_agg(id))" + held}, nil},
		{"a whole claim frees queues, one of them for a due job", []string{plain, queued, another, another, claim},
			[]string{"select graphile_worker._gw_complete_claim('worker', array_agg(id), (extract(epoch from min(locked_at)) * 1000000)::bigint)" + held},
			[]int{1}},
		{"a raw update frees a queue for a due job after a batch", []string{queued, queued, another, third, claim},
			[]string{"begin", "select graphile_worker.complete_job_batch('worker', array_agg(id))" + held +
				" and queue_name <> 'queue'",
				"update graphile_worker._private_job_queues set locked_at = null, locked_by = null", "commit"},
			[]int{1}},
		{"a completed job frees its queue for a job that is not due", []string{queued, later, claim},
			[]string{"select graphile_worker.complete_job('worker', id)" + held}, nil},
		{"a completed job frees its queue for nobody", []string{queued, claim},
			[]string{"select graphile_worker.complete_job('worker', id)" + held}, nil},
		{"a completed job without a queue", []string{plain, claim},
			[]string{"select graphile_worker.complete_job('worker', id)" + held}, nil},
		{"a failed job frees its queue for a due job", []string{queued, queued, claim},
			[]string{"select graphile_worker.fail_job('worker', id, '')" + held}, []int{0, 1}},
		{"a job that failed for good frees its queue for a due job", []string{queued, queued, claim},
			[]string{"select graphile_worker.fail_job('worker', id, '', permanent => true)" + held}, []int{1}},
		{"a failed job without a queue will be due", []string{plain, claim},
			[]string{"select graphile_worker.fail_job('worker', id, '')" + held}, []int{0}},
		{"a failed batch will be due", []string{plain, plain, claim},
			[]string{"select graphile_worker.fail_job_batch('worker', json_agg(json_build_object('id', id)))" + held},
			[]int{0}},
		{"a job without a queue that failed for good", []string{plain, claim},
			[]string{"select graphile_worker.fail_job('worker', id, '', permanent => true)" + held}, nil},
		{"a returned job frees its queue for itself", []string{queued, claim},
			[]string{"select graphile_worker.return_job('worker', id)" + held}, []int{1}},
		{"returned jobs are ready", []string{plain, plain, plain, claim},
			[]string{"select graphile_worker.return_job_batch('worker', array_agg(id))" + held}, []int{3}},
		{"a returned job will be due", []string{plain, claim},
			[]string{"select graphile_worker.return_job('worker', id, run_in => '1 hour')" + held}, []int{0}},
		{"jobs freed by force are ready", []string{queued, plain, claim},
			[]string{"select graphile_worker.force_unlock_workers(array['worker'])"}, []int{1, 2}},
		{"swept jobs are ready", []string{queued, plain, claim, expire, expireQ},
			[]string{"select graphile_worker.reset_stale_locks()"}, []int{1, 2}},
		{"a swept queue without a running job",
			[]string{queued, claim, queued, "delete from graphile_worker._private_jobs where locked_by = 'worker'",
				expireQ},
			[]string{"select graphile_worker.reset_stale_locks()"}, []int{1}},
		{"a queue freed by a raw update", []string{queued, queued, claim},
			[]string{"update graphile_worker._private_job_queues set locked_at = null, locked_by = null"}, []int{1}},
		{"a queue freed by a raw update for nobody", []string{queued, claim},
			[]string{"update graphile_worker._private_job_queues set locked_at = null, locked_by = null"}, nil},
		{"a job rescheduled to later", []string{plain},
			[]string{"select graphile_worker.reschedule_jobs(array[id], run_at => now() + interval '1 hour')" +
				waiting}, []int{0}},
		{"a job rescheduled to now", []string{later},
			[]string{"select graphile_worker.reschedule_jobs(array[id], run_at => now())" + waiting}, []int{1}},
		{"a running job cannot be rescheduled", []string{plain, claim},
			[]string{"select graphile_worker.reschedule_jobs(array[id], run_at => now())" + held}, nil},
		{"an added job", nil, []string{plain}, []int{1}},
		{"jobs added in one transaction", nil, []string{"begin", plain, queued, keyed, "commit"}, []int{1}},
		{"jobs added in a transaction that is undone", nil, []string{"begin", plain, queued, keyed, "rollback"}, nil},
		{"a replaced job", []string{keyed}, []string{keyed}, []int{1}},
		{"a deduplicated job that is new", nil, []string{dedupe}, []int{1}},
		{"a deduplicated job that is ready", []string{keyed}, []string{dedupe}, []int{1}},
		{"a deduplicated job that is not due", []string{notYet}, []string{dedupe}, nil},
		{"a deduplicated job that runs", []string{keyed, claim}, []string{dedupe}, nil},
		{"a deduplicated job that waits after an error, and may be a suspect", []string{keyed, claim, erred},
			[]string{dedupe}, []int{1}},
		{"an outcome that comes too late for a ready job", []string{plain, claim, erred}, []string{
			"select graphile_worker.complete_job('worker', id)" + waiting}, []int{1}},
		{"outcomes of a batch that come too late for ready jobs", []string{plain, plain, claim, erred}, []string{
			"select graphile_worker.complete_job_batch('worker', array_agg(id))" + waiting}, []int{2}},
		{"a whole claim that comes too late for ready jobs", []string{plain, plain, claim, erred}, []string{
			"select graphile_worker._gw_complete_claim('worker', array_agg(id), 1)" + waiting}, []int{2}},
		{"a failure that comes too late for a ready job", []string{plain, claim, erred}, []string{
			"select graphile_worker.fail_job('worker', id, '')" + waiting}, []int{1}},
		{"a job to return that is ready", []string{plain, claim, erred}, []string{
			"select graphile_worker.return_job('worker', id)" + waiting}, []int{1}},
		{"an outcome that comes too late for a job that is gone", nil,
			[]string{"select graphile_worker.complete_job('worker', 1)"}, nil},
		{"an outcome that comes too late for a job that is not due", []string{later}, []string{
			"select graphile_worker.complete_job('worker', id)" + waiting}, []int{0}},
		{"added jobs", nil, []string{
			"select graphile_worker.add_jobs(array_agg(('task', null, null, null, null, null, null, null)::graphile_worker.job_spec)) from generate_series(1, 5)"}, []int{5}},
		{"no added jobs", nil, []string{"select graphile_worker.add_jobs('{}')"}, nil},
		{"a removed job", []string{keyed}, []string{"select graphile_worker.remove_job('key')"}, []int{-1}},
		{"a running job cannot be removed", []string{keyed, claim},
			[]string{"select graphile_worker.remove_job('key')"}, nil},
		{"a job to remove that is not there", nil, []string{"select graphile_worker.remove_job('key')"}, nil},
	}
}()

// Sleepers hear of every job that becomes ready and of every due time that moves, by whatever statement, and of nothing
// else. The message is Node's: a count of jobs, which Node ignores when it is zero.
func TestSleepersHearOfWhatBecomesReady(t *testing.T) {
	for _, mode := range []struct {
		name string
		sql  string
		told bool
	}{
		{"always", "", true},
		{"idle with a sleeper", "select graphile_worker.set_setting('notify', 'idle'), graphile_worker.fall_asleep('sleeper', lasting => '1 hour')", true},
		{"idle with nobody asleep", "select graphile_worker.set_setting('notify', 'idle')", false},
		{"idle with a mark that is over", `
			select graphile_worker.set_setting('notify', 'idle'), graphile_worker.fall_asleep('sleeper', lasting => '1 second');
			update graphile_worker._gw_sleepers set until = now() - interval '1 second'`, false},
		{"never", "select graphile_worker.set_setting('notify', 'never')", false},
	} {
		t.Run(mode.name, func(t *testing.T) {
			t.Parallel()
			db := newDatabase(t)
			actor, sleeper := db.session(), db.session()
			actor.exec(mode.sql)
			sleeper.exec(`listen "jobs:insert"`)
			sleeper.exec("listen mark")
			for _, c := range wakeCases {
				t.Run(c.name, func(t *testing.T) {
					actor, sleeper := actor.in(t), sleeper.in(t)
					for _, sql := range c.before {
						actor.exec(sql)
					}
					actor.exec("notify mark")
					countsUntilMark(sleeper)
					for _, sql := range c.action {
						actor.exec(sql)
					}
					actor.exec("notify mark")
					want := c.counts
					if !mode.told {
						want = nil
					}
					if counts := countsUntilMark(sleeper); !slices.Equal(counts, want) {
						t.Errorf("heard of %v, want %v", counts, want)
					}
					actor.exec("delete from graphile_worker._private_jobs")
					actor.exec("delete from graphile_worker._private_job_queues")
				})
			}
		})
	}
}

// A job that is added to a queue while the transaction that frees the queue is open is announced before it can be claimed, so
// the commit announces it again.
func TestTheCommitThatFreesAQueueTellsOfJobsThatCameMeanwhile(t *testing.T) {
	const (
		queued = "select graphile_worker.add_job('task', queue_name => 'queue')"
		plain  = "select graphile_worker.add_job('task')"
		ids    = "(select array_agg(id order by id) from graphile_worker.jobs where locked_by = 'worker')"
		leases = "(select array_agg((extract(epoch from locked_at) * 1000000)::bigint) from graphile_worker.jobs where locked_by = 'worker')"
	)
	ways := []string{
		"select graphile_worker.complete_job('worker', (" + ids + ")[1]), graphile_worker.complete_job('worker', (" +
			ids + ")[2])",
		"select graphile_worker.complete_job_batch('worker', " + ids + ")",
		"select graphile_worker._gw_complete_all('worker', " + ids + ", " + leases + ")",
		"select graphile_worker.fail_job('worker', id, 'test', permanent => true) from graphile_worker.jobs where locked_by = 'worker'",
		"update graphile_worker._private_job_queues set locked_at = null, locked_by = null",
	}
	db := newDatabase(t)
	sleeper := db.session()
	sleeper.exec(`listen "jobs:insert"`)
	sleeper.exec("listen mark")
	for _, notify := range []string{
		"select graphile_worker.set_setting('notify', null)",
		"select graphile_worker.set_setting('notify', 'idle'), graphile_worker.fall_asleep('sleeper', lasting => '1 hour')",
	} {
		for _, isolation := range []string{readCommitted, repeatableRead} {
			for _, way := range ways {
				t.Run(isolation+", "+way, func(t *testing.T) {
					freeing, adding, sleeper := db.sessionAt(isolation).in(t), db.watcher.in(t), sleeper.in(t)
					adding.exec(notify)
					adding.exec(queued)
					adding.exec(plain)
					freeing.exec("select graphile_worker.get_job_batch('worker', batch_size => 2)")
					freeing.exec("begin")
					freeing.exec(way)
					adding.exec(queued)
					adding.exec("notify mark")
					countsUntilMark(sleeper)
					freeing.exec("commit")
					adding.exec("notify mark")
					if counts := countsUntilMark(sleeper); !slices.Equal(counts, []int{1}) {
						t.Errorf("the commit told of %v, want 1", counts)
					}
					adding.exec("delete from graphile_worker._private_jobs")
					adding.exec("delete from graphile_worker._private_job_queues")
				})
			}
		}
	}
}

// A snapshot as old as its transaction cannot show who fell asleep since.
func TestWithAnOldSnapshotSleepersAreAlwaysTold(t *testing.T) {
	db := newDatabase(t)
	db.watcher.exec("select graphile_worker.set_setting('notify', 'idle')")
	sleeper := db.session()
	sleeper.exec(`listen "jobs:insert"`)
	sleeper.exec("listen mark")
	for _, isolation := range []string{repeatableRead, serializable} {
		for _, sql := range []string{
			"select graphile_worker.add_job('task')",
			"select graphile_worker.add_jobs(array[('task', null, null, null, null, null, null, null)::graphile_worker.job_spec])",
		} {
			actor := db.sessionAt(isolation)
			actor.exec(sql)
			actor.exec("notify mark")
			if counts := countsUntilMark(sleeper); !slices.Equal(counts, []int{1}) {
				t.Errorf("%s, %s: heard of %v, want 1", isolation, sql, counts)
			}
		}
	}
}

// Jobs that were added with the old setting may not have been announced, and sleeping workers may have to set their marks.
func TestEveryoneIsToldWhenTheSettingChanges(t *testing.T) {
	db := newDatabase(t)
	actor, sleeper := db.session(), db.session()
	sleeper.exec(`listen "jobs:insert"`)
	sleeper.exec("listen mark")
	for _, c := range []struct {
		sql    string
		counts []int
	}{
		{"select graphile_worker.set_setting('notify', 'idle')", []int{0}},
		{"select graphile_worker.set_setting('notify', 'never')", []int{0}},
		{"select graphile_worker.set_setting('notify', null)", []int{0}},
		{"select graphile_worker.set_setting('stale_sweep_every', '1 hour')", nil},
	} {
		actor.exec(c.sql)
		actor.exec("notify mark")
		if counts := countsUntilMark(sleeper); !slices.Equal(counts, c.counts) {
			t.Errorf("%s: heard of %v, want %v", c.sql, counts, c.counts)
		}
	}
}

// countsUntilMark returns the counts of the messages on jobs:insert before the one on mark, sorted. One session's messages
// arrive in the order of its commits, so that nothing is still under way then.
func countsUntilMark(s *session) []int {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	var counts []int
	for {
		notification, err := s.conn.WaitForNotification(ctx)
		if err != nil {
			s.t.Fatalf("wait for a notification: %v", err)
		}
		if notification.Channel == "mark" {
			slices.Sort(counts)
			return counts
		}
		var message struct{ Count *int }
		if err := json.Unmarshal([]byte(notification.Payload), &message); err != nil || message.Count == nil {
			s.t.Fatalf("the message %q has no count: %v", notification.Payload, err)
		}
		counts = append(counts, *message.Count)
	}
}
