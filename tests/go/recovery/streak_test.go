package recovery

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// A job in the middle of a streak kills its worker: it is found, and the jobs around it run and lose no attempt for good.
func TestAJobThatKillsItsWorkerInTheMiddleOfAStreakIsFound(t *testing.T) {
	t.Parallel()
	f := newFleet(t, pgtest.Database(t))
	pgtest.Hurry(t, f.pool)
	f.exec(`
		select graphile_worker.set_setting('recovered_jobs', 'run'), graphile_worker.set_setting('crashes_allowed', '2');
		select graphile_worker.add_job(case when n = 60 then 'poison' else 'good' end, queue_name => 'q')
		  from generate_series(1, 90) as n order by n`)
	f.supervise("worker")
	f.await("select count(*) = 1 and bool_and(attempts = max_attempts and locked_at is null) from graphile_worker.jobs")
	left := pgtest.Value[string](t, f.pool, `
		select format('%s %s', task_identifier, left(last_error, 42)) from graphile_worker.jobs where attempts = max_attempts`)
	if want := "poison Probably crashed its workers: 2 died while"; left != want {
		t.Errorf("what is left is %q, want %q", left, want)
	}
	if killed := len(f.notes("killed")); killed > 4 {
		t.Errorf("the job has killed %d workers, want two while others were claimed with it, and two alone", killed)
	}
	done := f.notes("done")
	for id := range 90 {
		if note := fmt.Sprintf("done %d", id+1); id+1 != 60 && !slices.Contains(done, note) {
			t.Errorf("job %d was not done", id+1)
		}
	}
	if held := pgtest.Value[bool](t, f.pool, `select locked_at is not null from graphile_worker._private_job_queues`); held {
		t.Error("the queue is held")
	}
}
