package gotest

import (
	"testing"

	"golang.org/x/sync/errgroup"
)

// putContext adds a job with a context and returns its id.
const putContext = `
	with added as materialized (
	  select j.id, j.revision from graphile_worker.add_job('task') as j
	), put as (
	  select graphile_worker._gw_put_job_contexts(array_agg(a.id), array_agg(a.revision), '{"trace": "one"}') from added as a
	)
	select a.id from added as a cross join put`

// dropSpent deletes contexts of deleted jobs, as some calls do that add others.
const dropSpent = `select graphile_worker._gw_drop_spent_rows('graphile_worker._gw_job_context', 100000)`

// A transaction that has deleted some keeps their rows locked
// until it ends.
func TestWhoAddsAJobWithAContextWaitsForNobody(t *testing.T) {
	for _, isolation := range []string{readCommitted, repeatableRead, serializable} {
		t.Run(isolation, func(t *testing.T) {
			db := newDatabase(t)
			first, second := db.session(), db.sessionAt(isolation)
			for range 4 {
				one[int64](first, putContext)
			}
			first.exec("delete from graphile_worker._private_jobs")
			second.exec("begin")
			one[int64](second, "select count(*) from graphile_worker.jobs") // takes its snapshot
			first.exec("begin")
			one[int64](first, putContext)
			if one[int64](first, dropSpent); one[int64](first, "select count(*) from graphile_worker._gw_job_context") == 5 {
				t.Fatal("the first has removed nothing, so there is nothing to wait for")
			}
			second.exec("set lock_timeout = '5s'")
			one[int64](second, putContext)
			one[int64](second, dropSpent)
			first.exec("commit")
			one[int64](second, putContext)
			one[int64](second, dropSpent)
			second.exec("commit")
			if lost := one[int64](db.watcher, contextless); lost > 0 {
				t.Errorf("%d jobs have no context", lost)
			}
		})
	}
}

const contextless = `
	select count(*)
	  from graphile_worker._private_jobs as j
	 where not exists (select from graphile_worker._gw_job_context as c where c.job_id = j.id and c.revision = j.revision)`

func TestNoJobLosesItsContextToThoseThatAreRemoved(t *testing.T) {
	db := newDatabase(t)
	one[int64](db.watcher, "select id from graphile_worker.add_job('task', run_at => 'infinity')") // its name is known now
	db.watcher.exec("delete from graphile_worker._private_jobs")
	const producers, jobs = 6, 150
	var all errgroup.Group
	for p := range producers {
		isolation := readCommitted
		if p%3 == 2 {
			isolation = repeatableRead
		}
		s := db.sessionAt(isolation)
		all.Go(func() error {
			for n := range jobs {
				ids, err := query[int64](t.Context(), s.conn, putContext)
				if err != nil {
					return err
				}
				if n%10 == 0 {
					continue // this one waits
				}
				if _, err := s.conn.Exec(t.Context(), "delete from graphile_worker._private_jobs where id = $1", ids[0]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		t.Fatal(err)
	}
	if waiting := one[int64](db.watcher, "select count(*) from graphile_worker.jobs"); waiting != producers*jobs/10 {
		t.Errorf("%d jobs wait, want %d", waiting, producers*jobs/10)
	}
	if lost := one[int64](db.watcher, contextless); lost > 0 {
		t.Errorf("%d jobs have no context", lost)
	}
	one[int64](db.watcher, dropSpent)
	if kept := one[int64](db.watcher, "select count(*) from graphile_worker._gw_job_context"); kept != producers*jobs/10 {
		t.Errorf("%d contexts are kept, want one for each job that waits", kept)
	}
}
