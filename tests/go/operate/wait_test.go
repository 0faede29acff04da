package operate

import (
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestAWaitTellsHowJobsHaveEnded(t *testing.T) {
	b := newBench(t)
	b.exec(`select .add_job('mail', max_attempts => 1) from generate_series(1, 3)`, `select count(*) from .get_job_batch('w', null, 3)`,
		`select .complete_job('w', 1)`, `select .fail_job('w', 2, e'no such host\nat line 3')`)
	b.want(b.run("wait", "1"), result{stdout: "Job 1 is gone: it has completed or was removed.\n"})
	b.want(b.run("wait", "2", "1", "2"), result{code: 1, stdout: "Job 1 is gone: it has completed or was removed.\nJob 2 has failed: no such host\n", stderr: "gw-run: 1 of the jobs failed\n"})
	b.wantPart(b.run("wait", "--timeout", "10ms", "1", "3"), 1, "Job 1 is gone", "job 3 has not ended within 10ms; gw-run why 3 shows what it waits for")
	b.wantPart(b.run("wait"), 2, "", "which jobs? Give their ids")
	b.wantPart(b.run("wait", "x"), 2, "", `"x" is not the id of a job`)
	b.wantPart(b.run("wait", "--timeout", "-1s", "1"), 2, "", "--timeout must be positive")

	ended := make(chan result, 1)
	go func() { ended <- b.run("wait", "3") }()
	pgtest.Await(t, b.pool, `select exists (select from pg_stat_activity where datname = current_database() and query like '%job_ends%' and pid <> pg_backend_pid())`)
	b.exec(`select .complete_job('w', 3)`)
	select {
	case got := <-ended:
		if got.code != 0 || !strings.HasPrefix(got.stdout, "Job 3 is gone") {
			t.Errorf("the wait ended with %+v", got)
		}
	case <-time.After(time.Minute):
		t.Fatal("the wait does not end")
	}
}
