package doctor_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

const addLarge = `select (graphile_worker.add_job('task', (
	select to_json(string_agg(md5(n::text), '')) from generate_series(1, 1000) as n), priority => -1)).id`

// remedies returns the findings about unreadable jobs with their severities, and runs their remedies.
func remedies(t *testing.T, pool *pgxpool.Pool) (said []string) {
	t.Helper()
	const found = ` from graphile_worker.doctor() where finding = 'unreadable job'`
	said = pgtest.Value[[]string](t, pool, `select array_agg(severity || ', ' || subject || ': ' || detail)`+found)
	for _, command := range pgtest.Value[[]string](t, pool,
		`select array_agg(split_part(remedy, ' with: ', 2))`+found) {
		pgtest.Exec(t, pool, command)
	}
	return said
}

func TestAJobThatCannotBeReadIsNamedAndTheRemedyLetsTheOthersBeClaimed(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Database(t))
	pgtest.Value[int64](t, pool, addLarge)
	damaged := pgtest.Value[int64](t, pool, addLarge)
	pgtest.Damage(t, pool)
	flags := pgtest.Value[int64](t, pool, addLarge)
	pgtest.Exec(t, pool, `update graphile_worker._private_jobs set flags = '["a"]' where id = $1`, flags)
	const claim = `select payload::text from graphile_worker.get_job('psql')`
	pgtest.Value[string](t, pool, claim)
	if _, err := pool.Exec(t.Context(), claim); err == nil || !strings.Contains(err.Error(), "toast value") {
		t.Fatalf("the job is not damaged: %v", err)
	}

	said := remedies(t, pool)
	if len(said) != 2 || !strings.Contains(said[0], "critical, job 2: ") || !strings.Contains(said[0], "toast value") ||
		!strings.Contains(said[1], "critical, job 3: ") || !strings.Contains(said[1], "flags are not an object") {
		t.Errorf("the doctor says %q", said)
	}
	if left := pgtest.Value[int](t, pool, `select count(*) from graphile_worker.jobs
		where attempts = max_attempts and last_error = 'It cannot be read.'`); left != 2 {
		t.Errorf("%d jobs have failed", left)
	}
	pgtest.Value[int64](t, pool, addLarge)
	pgtest.Value[string](t, pool, claim) // is there

	pgtest.Exec(t, pool, `update graphile_worker._private_jobs set last_error = 'The job cannot be read: ...' where id = any ($1)`,
		[]int64{damaged, flags})
	said = remedies(t, pool)
	if len(said) != 1 || !strings.Contains(said[0],
		"warning, table _private_jobs: Jobs that failed because they could not be read: 2, the first is job 2;") {
		t.Errorf("the doctor says %q", said)
	}
	if n := pgtest.Value[int](t, pool, `select count(*) from graphile_worker._private_jobs where id = any ($1)`,
		[]int64{damaged, flags}); n != 0 {
		t.Errorf("%d of the jobs are left", n)
	}
}
