package operate

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

func TestTheHistoryShowsAttemptsAlsoAfterTheJob(t *testing.T) {
	b := newBench(t)
	b.exec(`select .keep_task('mail', '30 days', results => true)`, `select .add_job('mail', job_key => 'user:42')`)
	b.exec(`select .get_job('w1')`, `select .fail_job('w1', 1, e'no such host\nat line 1')`)
	b.wantPart(b.run("show", "1"), 0, "history\n  1 failed ", "")
	b.exec(`select .retry_jobs('{1}')`, `select .get_job('w2')`,
		`select .complete_job('w2', 1, result => '{"sent": 1}')`)
	got := b.run("history", "1")
	if lines := strings.Split(got.stdout, "\n"); got.code != 0 || len(lines) != 4 ||
		!strings.Contains(lines[1], "1/25  failed") ||
		!strings.Contains(lines[1], "no such host") || !strings.Contains(lines[2], "2/25  completed") ||
		!strings.Contains(lines[2], "w2") {
		t.Errorf("the history of the job is\n%s%s", got.stdout, got.stderr)
	}
	b.wantPart(b.run("history", "1", "--json"), 0, `"result":{"sent": 1}`, "")
	b.wantPart(b.run("history", "--key", "user:42", "--failures"), 0, "no such host", "")
	b.wantPart(b.run("history", "--limit", "1"), 0, "--after 2", "")
	b.wantPart(b.run("stats", "--since", "1h", "--json"), 0, `{"task":"mail","attempts":2,"completed":1,"failed":1,`,
		"")
	b.wantPart(b.run("history", "1", "--task", "mail"), 2, "", "give either ids of jobs or conditions")
}

// The completion of a job and its record are one transaction: if the server process is killed before the commit, there is
// neither.
func TestACompletionThatIsNotCommittedLeavesNoRecord(t *testing.T) {
	b := newBench(t)
	b.exec(`select .keep_task('mail', '30 days')`, `select .add_job('mail')`, `select .get_job('w1')`)
	conn := connect(t, b.url)
	run(t, conn, `begin`)
	run(t, conn, inQueue(`select .complete_job('w1', 1)`))
	if n := scalar[int](t, conn, inQueue(`select count(*) from .job_history(1)`)); n != 1 {
		t.Errorf("the transaction itself sees %d records", n)
	}
	b.exec(`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and state = 'idle in transaction'`)
	if _, err := conn.Exec(t.Context(), `commit`); err == nil {
		t.Error("the connection has survived")
	}
	if !b.is(`select exists (select from .jobs where id = 1) and not exists (select from .job_history(1))`) {
		t.Error("the job is gone, or a record is there")
	}
}

// wait_for_job is a procedure that commits, so that its snapshot does not keep vacuum from removing dead rows.
func TestWaitingInSQLReturnsTheResultAndHoldsNoSnapshot(t *testing.T) {
	b := newBench(t)
	b.exec(`select .add_job('mail')`, `select .expect_result(1)`, `select .get_job('w1')`)
	waiter := connect(t, b.url)
	type end struct{ state, result string }
	ended := make(chan end, 1)
	go func() {
		var e end
		if err := waiter.QueryRow(t.Context(), inQueue(`call .wait_for_job(1, '1 minute')`)).Scan(&e.state, &e.result,
			nil); err != nil {
			t.Error(err)
		}
		ended <- e
	}()
	const waiting = `from pg_stat_activity where datname = current_database() and query like 'call %wait_for_job%'`
	before := b.value(`select coalesce(min(t.xact_start)::text, '') from (select xact_start ` + waiting + `) as t`)
	for b.is(`select coalesce(min(t.xact_start)::text, '` + before + `') = '` + before + `' from (select xact_start ` +
		waiting + `) as t`) {
	}
	b.exec(`select .complete_job('w1', 1, result => '{"sent": 1}')`)
	if e := <-ended; e != (end{"completed", `{"sent": 1}`}) {
		t.Errorf("wait_for_job returned %+v", e)
	}
	if _, err := waiter.Exec(t.Context(), inQueue(`begin; call .wait_for_job(1)`)); err == nil ||
		!strings.Contains(err.Error(), "2D000") {
		t.Errorf("in a transaction block: %v", err)
	}
}

func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func run(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func scalar[T any](t *testing.T, conn *pgx.Conn, sql string) (value T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}
