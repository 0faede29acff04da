package grants

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/sqlstate"
)

// Each subtest has a queue of its own, whose roles have their rights.
func TestRolesDoWhatTheyMay(t *testing.T) {
	t.Parallel()
	q := newQueue(t, "graphile_worker", nil)
	q.grant()
	for _, c := range []struct {
		name string
		test func(*queue)
	}{
		{"AProducerEnqueuesAndLearnsNothingButTheId", aProducerEnqueuesAndLearnsNothingButTheId},
		{"ALimitedProducerEnqueuesItsTasksAndTouchesNoOthers", aLimitedProducerEnqueuesItsTasksAndTouchesNoOthers},
		{"ALimitedProducerTouchesNoOtherTaskInARace", aLimitedProducerTouchesNoOtherTaskInARace},
		{"AMonitorSeesNoPayloadKeyFlagOrError", aMonitorSeesNoPayloadKeyFlagOrError},
		{"AMonitorSeesNoLaneAndNoReason", aMonitorSeesNoLaneAndNoReason},
		{"ExpectedResultsAreThoseOfOwnJobs", expectedResultsAreThoseOfOwnJobs},
		{"WaitingCostsOthersNothing", waitingCostsOthersNothing},
		{"ASchedulerSetsUpRecurringJobs", aSchedulerSetsUpRecurringJobs},
		{"AnAdminSeesAndChangesJobs", anAdminSeesAndChangesJobs},
		{"AClientOfAProducerAddsJobs", aClientOfAProducerAddsJobs},
		{"AClientOfALimitedProducerAddsJobsOfItsTasks", aClientOfALimitedProducerAddsJobsOfItsTasks},
		{"AClientOfAnAdminLooksAfterJobs", aClientOfAnAdminLooksAfterJobs},
	} {
		t.Run(c.name, func(t *testing.T) {
			own := *q
			own.t = t
			own.exec("truncate S._private_jobs, S._private_job_queues, S._private_tasks restart identity")
			c.test(&own)
		})
	}
}

func aProducerEnqueuesAndLearnsNothingButTheId(q *queue) {
	producer := q.poolAs("producer")
	q.exec(`select S.add_job('other', '["hidden"]', job_key => 'k')`)
	got := pgtest.Value[int64](q.t, producer, `
		select graphile_worker_api.enqueue('mail', '["mine"]', 'q', '2100-01-01', 3, 'k', 5, array['f'], 'preserve_run_at')`)
	want := pgtest.Value[int64](q.t, q.pool, `
		select id from graphile_worker.jobs
		 where task_identifier = 'mail' and queue_name = 'q' and max_attempts = 3 and key = 'k' and priority = 5 and flags = '{"f": true}'
		   and run_at < now() and revision = 1`)
	if got != want {
		q.t.Errorf("got %d, want %d", got, want)
	}
	for _, statement := range []string{
		"select S.add_job('task')", "select * from S.jobs", "select * from S._private_jobs", "truncate S._private_jobs",
		"select S._gw_apply_grants()", "select * from API.jobs", "select API.get_job('me')",
		"select API._gw_breaking_revision()",
		"select * from API.queue_stats()", `create table API.mine (n integer)`, "select API.remove_job('k')",
	} {
		q.refused(producer, "42501", statement)
	}
	q.refused(producer, "GWBPR", "select API.enqueue('task', priority => 40000)")
}

func aLimitedProducerEnqueuesItsTasksAndTouchesNoOthers(q *queue) {
	limited := q.poolAs("limited")
	q.exec(`select S.add_job('other', '{"n":1}', job_key => 'theirs'), S.add_job('mail', '{"n":1}', job_key => 'ours')`)
	q.execAs(limited, `select API.enqueue_mail('{"n":2}', job_key => 'ours'), API.enqueue_mail(job_key => 'new'), API.enqueue_mail()`)
	q.execAs(limited, `select API."enqueue_resize-image"('{"n":3}', priority => 3, job_key_mode => 'no matter')`)
	q.refused(limited, "42501", "select API.enqueue('mail')")
	for _, mode := range []string{"replace", "preserve_run_at", "unsafe_dedupe"} {
		q.refused(limited, "GWBKT", "select API.enqueue_mail(job_key => 'theirs', job_key_mode => '"+mode+"')")
	}
	for _, key := range []string{"ours", "fresh"} {
		q.refused(limited, "GWBKM", "select API.enqueue_mail(job_key => '"+key+"', job_key_mode => 'sometimes')")
		q.refused(limited, "GWBQN", "select API.enqueue_mail(job_key => '"+key+"', queue_name => repeat('q', 129))")
	}
	const jobs = `
		select string_agg(concat_ws(' ', j.task_identifier, j.key, p.payload, j.revision, j.priority), '; ' order by j.id)
		  from graphile_worker.jobs as j join graphile_worker._private_jobs as p on p.id = j.id`
	const want = `other theirs {"n":1} 0 0; mail ours {"n":2} 1 0; mail new {} 0 0; mail {} 0 0; resize-image {"n":3} 0 3`
	if got := pgtest.Value[string](q.t, q.pool, jobs); got != want {
		q.t.Errorf("got %s, want %s", got, want)
	}

	// While a job runs, too: taking its key would prevent its next attempt.
	q.exec("select S.get_job('w', array['other'])")
	q.refused(limited, "GWBKT", "select API.enqueue_mail(job_key => 'theirs')")
}

// A job of another task is added with the same key between the check and the insert.
func aLimitedProducerTouchesNoOtherTaskInARace(q *queue) {
	q.exec("select S.add_job('mail')") // so that the names exist
	limited := q.poolAs("limited")
	for key, mode := range map[string]string{
		"replace": "'replace'", "preserve": "'preserve_run_at'", "dedupe": "'unsafe_dedupe'", "default": "null",
	} {
		tx, err := q.pool.Begin(q.t.Context())
		if err != nil {
			q.t.Fatal(err)
		}
		if _, err := tx.Exec(q.t.Context(), q.text("select S.add_job('other', job_key => '"+key+"')")); err != nil {
			q.t.Fatal(err)
		}
		answer := make(chan error)
		go func() {
			_, err := limited.Exec(q.t.Context(),
				q.text("select API.enqueue_mail(job_key => '"+key+"', job_key_mode => "+mode+")"))
			answer <- err
		}()
		pgtest.Await(q.t, q.admin, `
			select count(*) = 1 from pg_stat_activity where usename = $1 and wait_event_type = 'Lock'`,
			q.roles["limited"])
		if err := tx.Commit(q.t.Context()); err != nil {
			q.t.Fatal(err)
		}
		if err := <-answer; sqlstate.Of(err) != "GWBKT" {
			q.t.Errorf("%s: got %v", mode, err)
		}
	}
	if n := pgtest.Value[int64](q.t, q.pool, `
		select count(*) from graphile_worker.jobs where task_identifier = 'other' and revision = 0`); n != 4 {
		q.t.Errorf("%d of the other jobs are unchanged", n)
	}
}

// The test reads every view and calls every function that a monitor may call, with arguments where there are no defaults.
func aMonitorSeesNoPayloadKeyFlagOrError(q *queue) {
	q.exec(`select S.add_job('task', '{"a":"SECRET"}', job_key => 'SECRET', flags => array['SECRET'], queue_name => 'q')
	          from generate_series(1, 3) as n`)
	q.exec(`select S.cron_schedule('nightly', '0 3 * * *', 'task', '{"a":"SECRET"}', job_key => 'SECRET', flags => array['SECRET'])`)
	q.exec(`select S.add_job('bad', '{"a":"SECRET"}', job_key => 'SECRET2'), S.add_job('bad', max_attempts => 1)`)
	q.exec(`select S.fail_job('w', j.id, 'SECRET') from S.get_job_batch('w', array['bad'], 2) as j`)
	q.exec(`select S.get_job('w', array['task'])`)
	q.exec(`select S.keep_task('kept', '1 day')`)
	q.exec(`select S.set_limit('api', tasks => array['other'], by => 'payload:a', max_running => 1), S.pause(limit_name => 'api', reason => 'upkeep')`)
	monitor := q.poolAs("monitor")
	readable := q.lines(`
		select format('API.%I()', p.proname)
		  from pg_proc as p
		 where p.pronamespace = 'API'::regnamespace and p.pronargs = p.pronargdefaults
		   and has_function_privilege('` + q.roles["monitor"] + `', p.oid, 'execute')
		union all
		select format('API.%I', c.relname)
		  from pg_class as c
		 where c.relnamespace = 'API'::regnamespace and has_table_privilege('` + q.roles["monitor"] +
		`', c.oid, 'select')`)
	q.exec("select S._gw_take_sample()")
	if len(readable) < 8 {
		q.t.Errorf("only %q", readable)
	}
	for _, from := range readable {
		got := pgtest.Value[string](q.t, monitor, q.text("select coalesce(json_agg(r)::text, '') from "+from+" as r"))
		if strings.Contains(got, "SECRET") {
			q.t.Errorf("%s shows it: %s", from, got)
		}
		if got == "" && !strings.HasSuffix(from, ".doctor()") && !strings.HasSuffix(from, ".first_waiting()") {
			q.t.Errorf("%s shows nothing", from)
		}
	}
	q.exec(`update S._private_jobs as j set run_at = now() + interval '1 day' where j.locked_at is null and j.attempts < j.max_attempts`)
	states := pgtest.Value[string](q.t, monitor,
		`select string_agg(distinct j.state, ' ' order by j.state) from graphile_worker_api.jobs as j`)
	if states != "failed running scheduled" {
		q.t.Errorf("states: %s", states)
	}
	for _, from := range []string{"API.show_jobs(array[1])", "API.list_jobs()", "API.cron_schedules", "S.jobs"} {
		q.refused(monitor, "42501", "select * from "+from)
	}
}

func aSchedulerSetsUpRecurringJobs(q *queue) {
	scheduler := q.poolAs("scheduler")
	q.execAs(scheduler, `select API.cron_schedule('nightly', '0 3 * * *', 'task'), API.cron_pause('nightly'), API.cron_resume('nightly')`)
	rows, err := scheduler.Query(q.t.Context(),
		"select s.identifier from graphile_worker_api.cron_schedules as s where s.next_run > now()")
	if err != nil {
		q.t.Fatal(err)
	}
	if name, err := pgx.CollectExactlyOneRow(rows, pgx.RowTo[string]); err != nil || name != "nightly" {
		q.t.Errorf("%s, %v", name, err)
	}
	q.execAs(scheduler, "select * from API.recurring_jobs")
	q.refused(scheduler, "42501", "select API.run_cron('[]')")
}

// The test calls every function of an admin. Each runs with the owner's rights and finds the tables.
func anAdminSeesAndChangesJobs(q *queue) {
	q.exec(`select S.add_job('task', job_key => 'k' || n) from generate_series(1, 5) as n`)
	admin := q.poolAs("admin")
	q.execAs(admin, `
		select API.complete_jobs(array[1]); select API.permanently_fail_jobs(array[2], 'no'); select API.remove_job('k3');
		select API.reschedule_jobs(array[4], priority => 7); select API.set_setting('notify', 'never');
		select API.force_unlock_workers(array['w']); select API.cleanup(array['DELETE_PERMAFAILED_JOBS'])`)
	got := pgtest.Value[string](q.t, admin, `
		select string_agg(j.id || ' ' || j.key || ' ' || j.priority, ', ') from graphile_worker_api.list_jobs() as j`)
	if got != "4 k4 7, 5 k5 0" {
		q.t.Errorf("left: %s", got)
	}
	q.exec(`select S.cron_schedule('nightly', '0 3 * * *', 'task')`)
	q.execAs(admin, `select API.cron_pause('nightly'), API.cron_resume('nightly'), API.cron_add_job('nightly'), API.cron_next('0 3 * * *', now(), 'UTC')`)
	q.refused(admin, "42501", "select API.cron_schedule('nightly', '0 4 * * *', 'task')")
	q.refused(admin, "42501", "select API.get_job('w')")
	q.refused(admin, "42501", "select API.enqueue('task')")
}
