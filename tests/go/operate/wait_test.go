package operate

import (
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestAWaitTellsHowJobsHaveEnded(t *testing.T) {
	b := newBench(t)
	b.exec(`select .add_job('mail', max_attempts => 1) from generate_series(1, 3)`,
		`select count(*) from .get_job_batch('w', null, 3)`,
		`select .complete_job('w', 1)`, `select .fail_job('w', 2, e'no such host\nat line 3')`)
	const gone = "Job 1 is gone: it has completed, was removed, or never existed; nobody had asked for its end.\n"
	b.want(b.run("wait", "1"), result{stdout: gone})
	b.want(b.run("wait", "2", "1", "2"), result{code: 1, stdout: gone + "Job 2 has failed: no such host\n",
		stderr: "gw-run: 1 of the jobs failed\n"})
	b.wantPart(b.run("wait", "--timeout", "10ms", "1", "3"), 1, "Job 1 is gone",
		"job 3 has not ended within 10ms; gw-run why 3 shows what it waits for")
	b.wantPart(b.run("wait", "--json", "2"), 1,
		`{"id":2,"state":"permanently_failed","error":"no such host\nat line 3","result":null,"ended_at":null}`, "")
	b.wantPart(b.run("wait"), 2, "", "which jobs? Give their ids")
	b.wantPart(b.run("wait", "x"), 2, "", `"x" is not the id of a job`)
	b.wantPart(b.run("wait", "--timeout", "-1s", "1"), 2, "", "--timeout must be positive")

}

func TestAWaitSeesAnEndAndItsResult(t *testing.T) {
	b := newBench(t)
	b.exec(`select .add_job('mail') from generate_series(1, 4)`, `select count(*) from .get_job_batch('w', null, 4)`)
	for id, c := range map[string]struct{ end, want string }{
		"1": {`select .complete_job('w', 1, result => '{"to": "ada"}')`, `Job 1 has completed: {"to": "ada"}` + "\n"},
		"2": {`select .complete_job('w', 2)`, "Job 2 has completed.\n"},
		"3": {`delete from ._private_jobs where id = 3`, "Job 3 has completed.\n"}, // a worker held it
		"4": {`select .complete_job('w', 4, result => 'null')`, "Job 4 has completed.\n"},
	} {
		ended := make(chan result, 1)
		go func() { ended <- b.run("wait", id) }()
		pgtest.Await(t, b.pool, `
			select exists (select from graphile_worker._gw_expected where job_id = $1::bigint)
			   and exists (select from pg_stat_activity where datname = current_database() and query like '%job_results%' and pid <> pg_backend_pid())`, id)
		b.exec(c.end)
		select {
		case got := <-ended:
			b.want(got, result{stdout: c.want})
		case <-time.After(time.Minute):
			t.Fatal("the wait does not end")
		}
	}
	b.wantPart(b.run("wait", "--json", "1"), 0, `"state":"completed","error":null,"result":{"to": "ada"}`, "")
}
