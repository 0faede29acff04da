package gotest

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
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

// A transaction that has deleted some keeps their rows locked until it ends.
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
			if one[int64](first, dropSpent); one[int64](first,
				"select count(*) from graphile_worker._gw_job_context") == 5 {
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
				if _, err := s.conn.Exec(t.Context(), "delete from graphile_worker._private_jobs where id = $1",
					ids[0]); err != nil {
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

// Some rows are deleted by statements that the function makes, so the schema's name must not be read as part of a format.
func TestRowsOfDeletedJobsGoWhateverTheNameOfTheSchemaIs(t *testing.T) {
	for _, schema := range []string{"100%", `Odd "name" it's %s $sql$`} {
		pool := pgtest.Pool(t, pgtest.EmptyDatabase(t))
		migrator, err := migrate.New(pool.Config().ConnConfig, migrate.Config{Schema: schema})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := migrator.Up(t.Context()); err != nil {
			t.Fatal(err)
		}
		of := pgx.Identifier{schema}.Sanitize()
		pgtest.Exec(t, pool, `insert into `+of+`._gw_progress (job_id, revision, attempt) values (1, 1, 1), (2, 1, 1)`)
		var dropped int
		call := `select ` + of + `._gw_drop_spent_rows(pg_catalog.to_regclass($1), 10)`
		if err := pool.QueryRow(t.Context(), call, of+"._gw_progress").Scan(&dropped); err != nil || dropped != 2 {
			t.Errorf("schema %s: %d rows were deleted, want 2 (%v)", schema, dropped, err)
		}
	}
}
