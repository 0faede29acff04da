package history

import (
	"context"
	"fmt"
	"slices"
)

const (
	finishJobs     = "select " + jobColumns + " from graphile_worker.complete_jobs($1::bigint[]) as j"
	abortJobs      = "select " + jobColumns + " from graphile_worker.permanently_fail_jobs($1::bigint[]) as j"
	rescheduleJobs = "select " + jobColumns + `
		  from graphile_worker.reschedule_jobs($1::bigint[], clock_timestamp() + $2::interval, $3::integer, $4::integer) as j`
	removeJob = "select " + jobColumns + " from graphile_worker.remove_job($1::text) as j where j.id is not null"
	unlockAll = "select graphile_worker.force_unlock_workers(array[$1::text])"
	cleanUp   = "select c.task from graphile_worker.cleanup($1::text[], $2::text[], true) as c"

	// Makes all leases of a worker five hours old.
	ageJobs = `
		update graphile_worker._private_jobs as j
		   set locked_at = j.locked_at - interval '5 hours'
		  from (select l.id from graphile_worker._private_jobs as l where l.locked_by = $1::text order by l.id for update) as l
		 where j.id = l.id`
	ageQueues = `
		update graphile_worker._private_job_queues as q
		   set locked_at = q.locked_at - interval '5 hours'
		  from (select l.id from graphile_worker._private_job_queues as l where l.locked_by = $1::text order by l.id for no key update) as l
		 where q.id = l.id`
	forgetKeyed = "select graphile_worker._gw_drop_keyed_calls()"
	resetLocks  = "select graphile_worker.reset_stale_locks()"
)

// administer acts as an administrator, and frees what dead workers hold.
func (r *run) administer(ctx context.Context, s *session) error {
	for !r.over() {
		var e *event
		var calls []statement
		switch s.IntN(9) {
		case 0:
			e = &event{kind: finish, ids: s.someIDs()}
			calls = []statement{{finishJobs, []any{e.ids}}}
		case 1:
			e = &event{kind: abort, ids: s.someIDs()}
			calls = []statement{{abortJobs, []any{e.ids}}}
		case 2, 3:
			e, calls = s.reschedule()
		case 4, 5:
			e = &event{kind: remove, keys: []string{fmt.Sprintf("key %d", s.IntN(r.profile.keys))}}
			calls = []statement{{removeJob, []any{e.keys[0]}}}
		case 6, 7:
			worker := s.deadWorker()
			if worker == "" {
				continue
			}
			e, calls = s.freeLeases(worker)
		default:
			e = &event{kind: cleanup}
			what := pick(s, [][]string{{"DELETE_PERMAFAILED_JOBS"}, {"GC_TASK_IDENTIFIERS"}, {"GC_JOB_QUEUES"},
				{"GC_JOB_QUEUES", "DELETE_PERMAFAILED_JOBS"}})
			keep := []string{}
			if r.stopOthers != nil {
				keep = tasks // a Node worker caches their ids
			}
			calls = []statement{{cleanUp, []any{what, keep}}}
		}
		if r.profile.deciders > 0 && s.odds(5) {
			e, calls = &event{kind: forget}, []statement{{forgetKeyed, nil}}
		}
		if err := s.act(ctx, e, calls...); err != nil {
			return err
		}
	}
	return nil
}

// act makes a call that returns jobs or nothing.
func (s *session) act(ctx context.Context, e *event, calls ...statement) error {
	rows, err := s.record(ctx, e, calls...)
	if err != nil || e.kind == unlock || e.kind == expire || e.kind == cleanup || e.kind == forget {
		return err
	}
	for _, columns := range rows {
		r, err := readRow(columns)
		if err != nil {
			return fmt.Errorf("read the answer of %s: %w", e, err)
		}
		e.rows = append(e.rows, r)
	}
	return nil
}

func (s *session) reschedule() (*event, []statement) {
	e := &event{kind: reschedule, ids: s.someIDs()}
	var delay, priority, attempts any
	if s.odds(2) {
		delay = fmt.Sprintf("%d milliseconds", s.IntN(100))
	}
	if s.odds(2) {
		priority = s.IntN(3)
	}
	if s.odds(3) {
		attempts, e.revives = 0, true
	}
	return e, []statement{{rescheduleJobs, []any{e.ids, delay, priority, attempts}}}
}

// someIDs returns some ids of recently added jobs.
func (s *session) someIDs() []int64 {
	s.run.mu.Lock()
	defer s.run.mu.Unlock()
	ids := []int64{}
	for range 1 + s.IntN(3) {
		if len(s.run.ids) > 0 {
			ids = append(ids, pick(s, s.run.ids))
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// deadWorker returns a worker that will not continue, "" if there is none.
func (s *session) deadWorker() string {
	s.run.mu.Lock()
	defer s.run.mu.Unlock()
	if len(s.run.dead) == 0 {
		return ""
	}
	return pick(s, s.run.dead)
}

// freeLeases returns calls that free everything that a worker holds: by force_unlock_workers, or by the age of its
// leases.
func (s *session) freeLeases(worker string) (*event, []statement) {
	if s.odds(2) {
		return &event{kind: unlock, worker: worker}, []statement{{unlockAll, []any{worker}}}
	}
	return &event{kind: expire, worker: worker},
		[]statement{{ageJobs, []any{worker}}, {ageQueues, []any{worker}}, {resetLocks, nil}}
}
