package history

import (
	"slices"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// added7 is the first event of most histories: request number 1 with a key, added between 10 and 20 as job 7.
func added7() *event {
	return &event{
		kind: add, start: 10, end: 20, keys: []string{"k"},
		specs: []spec{{key: "k", mode: "replace", number: 1, task: "t"}},
		rows:  []row{{id: 7, key: "k", numbers: []int64{1}, runAt: 10, task: "t", available: true, maxAttempts: 3}},
	}
}

func addedAs(id int64, revision int, number int64, start, end micros) *event {
	return &event{
		kind: add, start: start, end: end, keys: []string{"k"},
		specs: []spec{{key: "k", mode: "replace", number: number, task: "t"}},
		rows: []row{{id: id, key: "k", revision: revision, numbers: []int64{number}, runAt: start, task: "t",
			available: true, maxAttempts: 3}},
	}
}

// alone is an event that adds a job without a key, in this queue.
func alone(id int64, queue string, start, end micros) *event {
	return &event{
		kind: add, start: start, end: end, specs: []spec{{number: id, queue: queue, task: "t"}},
		rows: []row{{id: id, numbers: []int64{id}, runAt: start, queue: queue, task: "t", available: true,
			maxAttempts: 3}},
	}
}

func claimBy(worker string, start, end micros, rows ...row) *event {
	for i := range rows {
		rows[i].leasedAt, rows[i].task = start, "t"
		if rows[i].maxAttempts == 0 {
			rows[i].attempts, rows[i].maxAttempts = 1, 3
		}
	}
	return &event{kind: claim, worker: worker, start: start, end: end, size: max(1, len(rows)), rows: rows}
}

// addedAsGiven is an event that adds a job with an effect.
func addedAsGiven(id int64) *event {
	e := alone(id, "", 1, 2)
	e.specs[0].task, e.rows[0].task = given, given
	return e
}

// effect is the claim of a job by its effect.
func effect(job int64, at micros) *event {
	e := claimBy("tx", at, at+1, row{id: job, numbers: []int64{job}})
	e.code, e.size, e.rows[0].task = reported, 0, given
	return e
}

// streak is a claim by worker a of up to most jobs of each queue, between 5 and 6.
func streak(most int, rows ...row) *event {
	e := claimBy("a", 5, 6, rows...)
	e.ofQueue = most
	return e
}

// ended is an outcome of a job that was claimed at this time; acted is whether it had an effect.
func ended(how kind, worker string, job int64, claimed micros, start, end micros, acted bool) *event {
	e := &event{kind: how, worker: worker, leases: []lease{{worker, job, claimed}}, start: start, end: end}
	if acted {
		e.touched = []int64{job}
	}
	return e
}

func job7() row { return row{id: 7, key: "k", numbers: []int64{1}, runAt: 10} }

func TestAHistoryIsJudgedByTheRules(t *testing.T) {
	unlocked := func(worker string, start, end micros) *event {
		return &event{kind: unlock, worker: worker, start: start, end: end}
	}
	removed := func(code string, rows ...row) *event {
		return &event{kind: remove, keys: []string{"k"}, start: 50, end: 60, code: code, rows: rows}
	}
	for _, c := range []struct {
		name   string
		limits []pgtest.Limit
		events []*event
		end    final
		want   rule // none if empty
	}{
		{name: "a job runs and is done", events: []*event{added7(), claimBy("a", 30, 40, job7()),
			ended(complete, "a", 7, 30, 50, 60, true)}},

		{name: "a request answers null", want: noRequestIsLost, events: []*event{
			{kind: add, start: 10, end: 20, keys: []string{"k"}, specs: []spec{{key: "k", number: 1}}, rows: []row{{}}},
		}},
		{name: "a request has another's payload", want: noRequestIsLost, events: []*event{
			added7(), func() *event { e := addedAs(7, 1, 2, 21, 22); e.rows[0].numbers = []int64{1}; return e }(),
			claimBy("a", 30, 40, row{id: 7, revision: 1, numbers: []int64{1}}), ended(complete, "a", 7, 30, 50, 60,
				true),
		}},
		{name: "a request after the claim never runs", want: noRequestIsLost, events: []*event{
			added7(), claimBy("a", 30, 40, job7()), addedAs(7, 1, 2, 41, 42), ended(complete, "a", 7, 30, 50, 60, true),
		}},
		{name: "a request waits still", want: noJobVanishes, events: []*event{added7()},
			end: final{jobs: []finalJob{{id: 7, available: true}}}},
		{name: "a later request runs instead", events: []*event{
			added7(), addedAs(7, 1, 2, 21, 22),
			claimBy("a", 30, 40, row{id: 7, key: "k", revision: 1, numbers: []int64{2}}),
			ended(complete, "a", 7, 30, 50, 60, true),
		}},
		{name: "an older payload runs", want: noRequestIsLost, events: []*event{
			added7(), addedAs(7, 1, 2, 21, 22),
			claimBy("a", 30, 40, row{id: 7, key: "k", revision: 1, numbers: []int64{1}}),
			ended(complete, "a", 7, 30, 50, 60, true),
		}},
		{name: "a job runs as one of another task", want: noRequestIsLost, events: []*event{
			alone(1, "", 1, 2), func() *event {
				e := claimBy("a", 5, 6, row{id: 1, numbers: []int64{1}, runAt: 1})
				e.rows[0].task = "other"
				return e
			}(), ended(complete, "a", 1, 5, 7, 8, true),
		}},
		{name: "two requests are one revision", want: noRequestIsLost, events: []*event{
			added7(), addedAs(7, 0, 2, 21, 22), claimBy("a", 30, 40, row{id: 7, key: "k", numbers: []int64{2}}),
			ended(complete, "a", 7, 30, 50, 60, true),
		}},
		{name: "a request is removed", events: []*event{added7(), removed(done, row{id: 7})}},
		{name: "a request is perhaps removed", events: []*event{added7(), removed(unknown)}},
		{name: "nothing is removed, yet the job is gone", want: noJobVanishes,
			events: []*event{added7(), removed(done)}},
		{name: "a job that fails for good before it runs", want: noRequestIsLost, events: []*event{added7()},
			end: final{jobs: []finalJob{{id: 7}}}},

		{name: "two outcomes of one lease", want: aLeaseIsOneClaim, events: []*event{
			added7(), claimBy("a", 30, 40, job7()), ended(fail, "a", 7, 30, 50, 60, true),
			ended(complete, "a", 7, 30, 70, 80, true),
		}},
		{name: "the second outcome does not act", events: []*event{
			added7(), claimBy("a", 30, 40, job7()), ended(complete, "a", 7, 30, 50, 60, true),
			ended(fail, "a", 7, 30, 70, 80, false),
		}},
		{name: "an outcome does not act though the lease holds", want: aLeaseIsOneClaim, events: []*event{
			added7(), claimBy("a", 30, 40, job7()), ended(complete, "a", 7, 30, 41, 42, false),
			ended(complete, "a", 7, 30, 50, 60, true),
		}},
		{name: "an outcome acts after the lease was taken away", want: aLeaseIsOneClaim, events: []*event{
			added7(), claimBy("a", 30, 40, job7()), unlocked("a", 41, 45), ended(complete, "a", 7, 30, 50, 60, true),
		}},
		{name: "an outcome acts while the lease is taken away", events: []*event{
			added7(), claimBy("a", 30, 40, job7()), unlocked("a", 41, 51), ended(complete, "a", 7, 30, 50, 60, true),
		}},
		{name: "an outcome acts on a later claim", want: aLeaseIsOneClaim, events: []*event{
			added7(), claimBy("a", 30, 40, job7()), unlocked("a", 41, 61), claimBy("b", 44, 45, job7()),
			ended(complete, "a", 7, 30, 50, 60, true),
		}},
		{name: "a job runs twice", want: nothingRunsTwice, events: []*event{
			added7(), claimBy("a", 30, 40, job7()), claimBy("b", 44, 45, job7()), ended(complete, "b", 7, 44, 50, 60,
				true),
		}},
		{name: "a job runs again after it is done", want: nothingRunsTwice, events: []*event{
			added7(), claimBy("a", 30, 40, job7()), ended(complete, "a", 7, 30, 41, 42, true),
			claimBy("b", 44, 45, job7()),
			ended(complete, "b", 7, 44, 50, 60, true),
		}},
		{name: "a job runs again after a crash", events: []*event{
			added7(), claimBy("a", 30, 40, job7()), unlocked("a", 41, 42), claimBy("b", 44, 45, job7()),
			ended(complete, "b", 7, 44, 50, 60, true),
		}},

		{name: "a job whose key is taken over runs again", want: deadStaysDead, events: []*event{
			added7(), claimBy("a", 30, 40, job7()), addedAs(8, 0, 2, 41, 42), ended(giveBack, "a", 7, 30, 43, 44, true),
			claimBy("b", 45, 46, job7()), ended(complete, "b", 7, 45, 47, 48, true),
			claimBy("b", 50, 52, row{id: 8, key: "k", numbers: []int64{2}}), ended(complete, "b", 8, 50, 53, 54, true),
		}},
		{name: "a job that was removed runs", want: deadStaysDead, events: []*event{
			added7(), claimBy("a", 30, 40, job7()), removed(done, row{id: 7}), ended(giveBack, "a", 7, 30, 61, 62,
				true),
			claimBy("b", 70, 71, job7()), ended(complete, "b", 7, 70, 72, 73, true),
		}},
		{name: "a job that was removed runs by an administrator's will", events: []*event{
			added7(), claimBy("a", 30, 40, job7()), removed(done, row{id: 7}), ended(giveBack, "a", 7, 30, 61, 62,
				true),
			{kind: reschedule, start: 63, end: 64, ids: []int64{7}, rows: []row{{id: 7}}, revives: true},
			claimBy("b", 70, 71, job7()), ended(complete, "b", 7, 70, 72, 73, true),
		}},

		{name: "a job that lost its key to a call without an answer runs by an administrator's will", events: []*event{
			added7(), claimBy("a", 30, 40, job7()), {kind: add, code: unknown, keys: []string{"k"}, start: 41, end: 42},
			ended(giveBack, "a", 7, 30, 43, 44, true), {kind: reschedule, start: 45, end: 46, ids: []int64{7},
				rows: []row{{id: 7}}, revives: true},
			addedAs(8, 0, 2, 47, 48), claimBy("b", 50, 52, job7()), ended(complete, "b", 7, 50, 53, 54, true),
			claimBy("b", 60, 62, row{id: 8, key: "k", numbers: []int64{2}}), ended(complete, "b", 8, 60, 63, 64, true),
		}},
		{name: "a job runs by an administrator's will, and is then taken over", want: deadStaysDead, events: []*event{
			added7(), {kind: reschedule, start: 25, end: 26, ids: []int64{7}, rows: []row{{id: 7, key: "k"}},
				revives: true},
			claimBy("a", 30, 40, job7()), addedAs(8, 0, 2, 41, 42), ended(giveBack, "a", 7, 30, 43, 44, true),
			claimBy("b", 45, 46, job7()), ended(complete, "b", 7, 45, 47, 48, true),
			claimBy("b", 60, 62, row{id: 8, key: "k", numbers: []int64{2}}), ended(complete, "b", 8, 60, 63, 64, true),
		}},

		{name: "two jobs of a queue run at once", want: aQueueIsSerial, events: []*event{
			alone(1, "q", 1, 2), alone(2, "q", 3, 4),
			claimBy("a", 5, 6, row{id: 1, queue: "q", numbers: []int64{1}, runAt: 1}),
			claimBy("b", 7, 8, row{id: 2, queue: "q", numbers: []int64{2}, runAt: 3}),
			ended(complete, "a", 1, 5, 9, 10, true), ended(complete, "b", 2, 7, 11, 12, true),
		}},
		{name: "jobs of a queue that were claimed together run at once", events: []*event{
			alone(1, "q", 1, 2), alone(2, "q", 3, 4), streak(2, row{id: 1, queue: "q", numbers: []int64{1}, runAt: 1},
				row{id: 2, queue: "q", numbers: []int64{2}, runAt: 3}),
			ended(complete, "a", 1, 5, 9, 10, true), ended(complete, "a", 2, 5, 11, 12, true),
		}},
		{name: "more jobs of a queue are claimed together than were asked for", want: aQueueIsSerial, events: []*event{
			alone(1, "q", 1, 2), alone(2, "q", 3, 4), streak(1, row{id: 1, queue: "q", numbers: []int64{1}, runAt: 1},
				row{id: 2, queue: "q", numbers: []int64{2}, runAt: 3}),
			ended(complete, "a", 1, 5, 9, 10, true), ended(complete, "a", 2, 5, 11, 12, true),
		}},
		{name: "a queue is free when the first of the jobs claimed together has ended", want: aQueueIsSerial,
			events: []*event{
				alone(1, "q", 1, 2), alone(2, "q", 3, 4), alone(3, "q", 3, 4),
				streak(2, row{id: 1, queue: "q", numbers: []int64{1}, runAt: 1},
					row{id: 2, queue: "q", numbers: []int64{2},
						runAt: 3}),
				ended(complete, "a", 1, 5, 9, 10, true),
				claimBy("b", 11, 12, row{id: 3, queue: "q", numbers: []int64{3}, runAt: 3}),
				ended(complete, "a", 2, 5, 13, 14, true), ended(complete, "b", 3, 11, 15, 16, true),
			}},
		{name: "a job with a key is claimed behind another one", want: aQueueIsSerial, events: []*event{
			alone(1, "q", 1, 2),
			func() *event { e := added7(); e.specs[0].queue, e.rows[0].queue = "q", "q"; return e }(),
			func() *event {
				e := claimBy("a", 30, 40, row{id: 1, queue: "q", numbers: []int64{1}, runAt: 1},
					row{id: 7, key: "k", queue: "q", numbers: []int64{1}, runAt: 10})
				e.ofQueue = 2
				return e
			}(),
			ended(complete, "a", 1, 30, 41, 42, true), ended(complete, "a", 7, 30, 43, 44, true),
		}},
		{name: "a job of a queue comes while the one before ends", events: []*event{
			alone(1, "q", 1, 2), alone(2, "q", 3, 4),
			claimBy("a", 5, 6, row{id: 1, queue: "q", numbers: []int64{1}, runAt: 1}),
			ended(complete, "a", 1, 5, 7, 10, true),
			claimBy("b", 8, 9, row{id: 2, queue: "q", numbers: []int64{2}, runAt: 3}),
			ended(complete, "b", 2, 8, 11, 12, true),
		}},
		{name: "a job overtakes another of its queue", want: aQueueIsSerial, events: []*event{
			alone(1, "q", 1, 2), alone(2, "q", 3, 4),
			claimBy("b", 7, 8, row{id: 2, queue: "q", numbers: []int64{2}, runAt: 3}),
			ended(complete, "b", 2, 7, 9, 10, true),
			claimBy("a", 15, 16, row{id: 1, queue: "q", numbers: []int64{1}, runAt: 1}),
			ended(complete, "a", 1, 15, 17, 18, true),
		}},
		{name: "a limit holds", limits: []pgtest.Limit{{Name: "l", Task: "t", Most: 2}}, events: []*event{
			alone(1, "", 1, 2), alone(2, "", 3, 4), alone(3, "", 3, 4),
			claimBy("a", 5, 6, row{id: 1, numbers: []int64{1}, runAt: 1}, row{id: 2, numbers: []int64{2}, runAt: 3}),
			ended(complete, "a", 1, 5, 7, 10, true), claimBy("b", 8, 9, row{id: 3, numbers: []int64{3}, runAt: 3}),
			ended(complete, "a", 2, 5, 11, 12, true), ended(complete, "b", 3, 8, 11, 12, true),
		}},
		{name: "one job too many of a lane runs", want: aLimitHolds,
			limits: []pgtest.Limit{{Name: "l", Task: "t", Most: 1}}, events: []*event{
				alone(1, "", 1, 2), alone(2, "", 3, 4),
				claimBy("a", 5, 6, row{id: 1, numbers: []int64{1}, runAt: 1}),
				claimBy("b", 7, 8, row{id: 2, numbers: []int64{2}, runAt: 3}),
				ended(complete, "a", 1, 5, 9, 10, true), ended(complete, "b", 2, 7, 9, 10, true),
			}},
		{name: "a job in a queue counts for the limit of its task, too", want: aLimitHolds,
			limits: []pgtest.Limit{{Name: "l", Task: "t", Most: 1}}, events: []*event{
				alone(1, "q", 1, 2), alone(2, "", 3, 4),
				claimBy("a", 5, 6, row{id: 1, queue: "q", numbers: []int64{1}, runAt: 1}),
				claimBy("b", 7, 8, row{id: 2, numbers: []int64{2}, runAt: 3}),
				ended(complete, "a", 1, 5, 9, 10, true), ended(complete, "b", 2, 7, 9, 10, true),
			}},
		{name: "a job overtakes another of its lane", want: aLimitHolds,
			limits: []pgtest.Limit{{Name: "l", Task: "t", Most: 2}}, events: []*event{
				alone(1, "", 1, 2), alone(2, "", 3, 4),
				claimBy("b", 7, 8, row{id: 2, numbers: []int64{2}, runAt: 3}), ended(complete, "b", 2, 7, 9, 10, true),
				claimBy("a", 15, 16, row{id: 1, numbers: []int64{1}, runAt: 1}), ended(complete, "a", 1, 15, 17, 18,
					true),
			}},
		{name: "a queue stays locked", want: aQueueIsSerial, end: final{lockedQueues: []string{"q"}}},

		{name: "a batch is out of order", want: urgentFirst, events: []*event{
			alone(1, "", 1, 2), alone(2, "", 3, 4),
			claimBy("a", 5, 6, row{id: 2, numbers: []int64{2}, runAt: 3}, row{id: 1, numbers: []int64{1}, runAt: 1}),
			ended(complete, "a", 1, 5, 7, 8, true), ended(complete, "a", 2, 5, 9, 10, true),
		}},
		{name: "a more urgent job is passed by", want: urgentFirst, events: []*event{
			alone(1, "", 1, 2), alone(2, "", 3, 4), claimBy("a", 5, 6, row{id: 2, numbers: []int64{2}, runAt: 3}),
			claimBy("b", 7, 8, row{id: 1, numbers: []int64{1}, runAt: 1}),
			ended(complete, "b", 1, 7, 9, 10, true), ended(complete, "a", 2, 5, 11, 12, true),
		}},
		{name: "a more urgent job that somebody else is claiming is passed by", events: []*event{
			alone(1, "", 1, 2), alone(2, "", 3, 4), claimBy("a", 6, 8, row{id: 2, numbers: []int64{2}, runAt: 3}),
			claimBy("b", 5, 7, row{id: 1, numbers: []int64{1}, runAt: 1}),
			ended(complete, "b", 1, 5, 9, 10, true), ended(complete, "a", 2, 6, 11, 12, true),
		}},
		{name: "a more urgent job is passed by for one that becomes less urgent during the claim", events: []*event{
			added7(), alone(8, "", 21, 22), addedAs(7, 1, 2, 31, 34),
			claimBy("a", 33, 35, row{id: 7, key: "k", revision: 1, numbers: []int64{2}, runAt: 31}),
			claimBy("b", 36, 37, row{id: 8, numbers: []int64{8}, runAt: 21}),
			ended(complete, "b", 8, 36, 38, 39, true), ended(complete, "a", 7, 33, 40, 41, true),
		}},
		{name: "a more urgent job that is not due is passed by", events: []*event{
			func() *event { e := alone(1, "", 1, 2); e.rows[0].runAt, e.rows[0].priority = 7, -1; return e }(),
			alone(2, "", 3, 4), claimBy("a", 5, 6, row{id: 2, numbers: []int64{2}, runAt: 3}),
			claimBy("b", 8, 9, row{id: 1, numbers: []int64{1}, runAt: 7, priority: -1}),
			ended(complete, "b", 1, 8, 10, 11, true), ended(complete, "a", 2, 5, 12, 13, true),
		}},
		{name: "a claim leaves a due job", want: nothingIsPassedBy, events: []*event{
			alone(1, "", 1, 2), claimBy("a", 5, 6), claimBy("b", 7, 8, row{id: 1, numbers: []int64{1}, runAt: 1}),
			ended(complete, "b", 1, 7, 9, 10, true),
		}},
		{name: "a job of another task is left", events: []*event{
			alone(1, "", 1, 2), {kind: claim, worker: "a", start: 5, end: 6, size: 1, tasks: []string{"other"}},
			claimBy("b", 7, 8, row{id: 1, numbers: []int64{1}, runAt: 1}), ended(complete, "b", 1, 7, 9, 10, true),
		}},

		{name: "a job is gone though it only failed", want: noJobVanishes, events: []*event{
			added7(), claimBy("a", 30, 40, job7()), ended(fail, "a", 7, 30, 50, 60, true),
		}},
		{name: "a job that a silent worker held is taken over", events: []*event{
			added7(), addedAs(8, 0, 2, 41, 42), {kind: cleanup, start: 43, end: 44},
			func() *event {
				e := claimBy("s", 45, 46, row{id: 8, key: "k", numbers: []int64{2}})
				e.code, e.size = reported, 0
				return e
			}(),
			{kind: complete, worker: "s", leases: []lease{{"s", 8, 45}}, code: unknown, start: 47, end: 99},
		}},
		{name: "a job that nobody held is taken over", want: noRequestIsLost, events: []*event{
			added7(), addedAs(8, 0, 2, 41, 42), {kind: cleanup, start: 43, end: 44},
			claimBy("b", 45, 46, row{id: 8, key: "k", numbers: []int64{2}}), ended(complete, "b", 8, 45, 47, 48, true),
		}},

		{name: "an effect of a handler that failed", want: failuresLeaveNothing, events: []*event{
			addedAsGiven(10), effect(10, 3), ended(complete, "tx", 10, 3, 4, 5, true),
		}},
		{name: "an effect", events: []*event{addedAsGiven(11), effect(11, 3), ended(complete, "tx", 11, 3, 4, 5,
			true)}},
		{name: "two effects of a job", want: nothingRunsTwice, events: []*event{
			addedAsGiven(11), effect(11, 3), ended(complete, "tx", 11, 3, 4, 9, true), effect(11, 6),
			ended(complete, "tx", 11, 6, 7, 9, true),
		}},

		{name: "a deadlock", want: everyCallIsPolite, events: []*event{{kind: claim, code: "40P01"}}},
		{name: "a deadlock of a claim that PostgreSQL made wait", events: []*event{
			{kind: claim, code: "40P01", detail: "Process 1 waits. while locking updated version (1,2) of tuple in relation \"_private_jobs\""},
		}},
		{name: "40001 at READ COMMITTED", want: everyCallIsPolite, events: []*event{{kind: claim, code: "40001"}}},
		{name: "40001 at SERIALIZABLE", events: []*event{{kind: claim, code: "40001", serializable: true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			violations := check(c.events, c.end, c.limits...).violations
			if c.want == "" && len(violations) > 0 {
				t.Errorf("want no violation, got: %v", violations)
			}
			if c.want != "" && !slices.ContainsFunc(violations, func(v violation) bool { return v.rule == c.want }) {
				t.Errorf("want %q, got %v", c.want, violations)
			}
			for _, v := range violations {
				if v.rule != c.want {
					t.Logf("besides: %v", v)
				}
			}
		})
	}
}

// A Node worker completes a job that it no longer holds, and a worker of gw then finds no job to complete.
func TestADefectOfNodeIsExcusedForNodeOnly(t *testing.T) {
	for worker, excused := range map[string]bool{"pool-1": true, "ours": false} {
		late := claimBy(worker, 30, 40, job7())
		late.code, late.size = reported, 0
		batch := claimBy(worker, 31, 41, row{id: 2, numbers: []int64{2}, runAt: 3},
			row{id: 1, numbers: []int64{1}, runAt: 1})
		batch.code, batch.size = reported, 0
		verdict := check([]*event{
			alone(1, "", 1, 2), alone(2, "", 3, 4), batch,
			{kind: complete, worker: worker, leases: []lease{{worker, 1, 31}, {worker, 2, 31}}, code: unknown,
				start: 42, end: 99},
			added7(), late, {kind: unlock, worker: worker, start: 41, end: 42}, claimBy("b", 44, 45, job7()),
			{kind: complete, worker: worker, leases: []lease{{worker, 7, 30}}, code: unknown, start: 50, end: 99},
			ended(complete, "b", 7, 44, 70, 71, false),
		}, final{})
		var rules []rule
		for _, v := range verdict.violations {
			rules = append(rules, v.rule)
		}
		want := []rule{aLeaseIsOneClaim, urgentFirst}
		if excused {
			want = nil
		}
		if !slices.Equal(rules, want) {
			t.Errorf("worker %s: violations of %q, want %q", worker, rules, want)
		}
		if excused && (verdict.excused[unfencedDelete] != 1 || verdict.excused[unorderedBatch] != 1) {
			t.Errorf("worker %s: excused %v", worker, verdict.excused)
		}
	}
}
