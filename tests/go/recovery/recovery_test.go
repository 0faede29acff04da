package recovery

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
)

// patience is the maximum time that a test waits for a condition.
const patience = 2 * time.Minute

var outage = flag.Duration("recovery.outage", 3*time.Second,
	"how long the database is paused; from half a minute on with the default settings")

// fleet is a database and its workers.
type fleet struct {
	t      *testing.T
	url    string
	pool   *pgxpool.Pool
	folder string
}

func newFleet(t *testing.T, url string) *fleet {
	t.Helper()
	return &fleet{t: t, url: url, pool: pgtest.Pool(t, url), folder: t.TempDir()}
}

func (f *fleet) exec(sql string, args ...any) {
	f.t.Helper()
	pgtest.Exec(f.t, f.pool, sql, args...)
}

func (f *fleet) await(sql string, args ...any) {
	f.t.Helper()
	pgtest.Await(f.t, f.pool, sql, args...)
}

const registered = `
	select count(*) = $1 from graphile_worker._gw_workers
	 where recovered_at is null and last_seen_at > now() - graphile_worker.setting('dead_after')::interval`

func TestJobsOfAKilledWorkerRunElsewhere(t *testing.T) {
	t.Parallel()
	f := newFleet(t, pgtest.Database(t))
	pgtest.Hurry(t, f.pool)
	f.exec("select graphile_worker.add_job('gated', queue_name => 'q'), graphile_worker.add_job('gated')")
	victim := f.start("victim")
	f.awaitNotes(2, "started")
	f.exec("select graphile_worker.add_job('gated', queue_name => 'q')")
	f.start("heir")
	f.await(registered, 2)
	victim.signal(syscall.SIGKILL)
	f.await("select count(*) > 0 from graphile_worker.jobs where last_error like 'Worker victim (host %, pid %) died; it was last seen at %'")
	f.open()
	f.await("select count(*) = 0 from graphile_worker.jobs")
	if died := f.notes("done"); len(died) != 3 {
		t.Errorf("three jobs were done: %q", died)
	}
}

// The slots of a killed worker count until its jobs are recovered, and no longer.
func TestSlotsOfAKilledWorkerAreFreeOnceItsJobsAreRecovered(t *testing.T) {
	t.Parallel()
	f := newFleet(t, pgtest.Database(t))
	pgtest.Hurry(t, f.pool)
	f.exec(`select graphile_worker.set_limit('gated', tasks => '{gated}', max_running => 2);
	        select graphile_worker.add_job('gated') from generate_series(1, 3)`)
	victim := f.start("victim")
	f.awaitNotes(2, "started")
	f.start("heir")
	f.await(registered, 2)
	f.await("select w.reason = 'full' and cardinality(w.blocking_job_ids) = 2 from graphile_worker.jobs as j, graphile_worker.why(j.id) as w where j.locked_at is null")
	victim.signal(syscall.SIGKILL)
	f.await("select count(*) > 0 from graphile_worker.jobs where locked_by = 'heir'")
	if beside := pgtest.Value[int](t, f.pool, "select count(*)::integer from graphile_worker.jobs where locked_by = 'victim'"); beside > 0 {
		t.Errorf("a job started although %d of the victim were not recovered", beside)
	}
	f.open()
	f.await("select count(*) = 0 from graphile_worker.jobs")
	if done := f.notes("done"); len(done) != 3 {
		t.Errorf("three jobs were done: %q", done)
	}
	f.await("select running = 0 from graphile_worker.list_lanes('gated')")
}

func TestAPausedWorkerEndsWhatItHasLost(t *testing.T) {
	t.Parallel()
	f := newFleet(t, pgtest.Database(t))
	pgtest.Hurry(t, f.pool)
	f.exec("select graphile_worker.add_job('gated'), graphile_worker.add_job('gated', queue_name => 'q')")
	paused := f.start("paused")
	f.awaitNotes(2, "started")
	f.start("heir")
	f.await(registered, 2)
	paused.signal(pgtest.Stop)
	f.await("select count(*) = 1 from graphile_worker.jobs where locked_by = 'heir'") // alone, one after the other
	paused.signal(pgtest.Continue)
	f.awaitNotes(2, "cut")
	for _, line := range f.notes("cut") {
		if !strings.HasSuffix(line, "paused: lease lost") {
			t.Errorf("a handler was interrupted for another reason: %s", line)
		}
	}
	f.open()
	f.await("select count(*) = 0 from graphile_worker.jobs")
	f.await(registered, 2) // it continues
}

// Eight workers run long jobs while the database stops for longer than dead_after.
func TestNoJobRunsTwiceWhenTheDatabaseIsPaused(t *testing.T) {
	t.Parallel()
	const workers = 8
	f := newFleet(t, ownServer(t))
	long := *outage >= 30*time.Second
	if !long {
		pgtest.Hurry(t, f.pool)
	}
	deadAfter := pgtest.Value[float64](t, f.pool,
		"select extract(epoch from graphile_worker.setting('dead_after')::interval)::float8")
	for i := range workers {
		f.start(fmt.Sprint("w", i))
	}
	f.await("select count(*) = $1 from graphile_worker._gw_workers", workers)
	f.exec("select graphile_worker.add_job('gated') from generate_series(1, 24)")
	f.awaitNotes(24, "started")
	// From now on some workers may decide which workers are dead.
	f.await("select bool_or(last_seen_at - beating_since > $1::float8 * interval '1 second') from graphile_worker._gw_workers", deadAfter)

	before := pgtest.Value[time.Time](t, f.pool, "select clock_timestamp()")
	server := serverProcesses(t, f.pool)
	t.Cleanup(func() { signalAll(t, server, pgtest.Continue) })
	signalAll(t, server, pgtest.Stop)
	time.Sleep(*outage) // the duration of the outage
	signalAll(t, server, pgtest.Continue)

	// All workers have sent heartbeats since, and some of them for long enough to decide again which are dead, and have done so.
	f.await(`select bool_and(last_seen_at > $1)
	                and bool_or(beating_since > $1 and last_seen_at - beating_since > 1.2 * $2::float8 * interval '1 second')
	           from graphile_worker._gw_workers`, before, deadAfter)
	f.open()
	f.await("select count(*) = 0 from graphile_worker.jobs")
	started := f.notes("started")
	slices.Sort(started)
	if len(started) != 24 || len(f.notes("done")) != 24 || len(f.notes("cut")) != 0 {
		t.Errorf("24 jobs were started %d times and done %d times, %d were interrupted:\n%s",
			len(started), len(f.notes("done")), len(f.notes("cut")), strings.Join(started, "\n"))
	}
}

// ownServer starts a server for this test only and returns the URL of a migrated database on it.
func ownServer(t *testing.T) string {
	t.Helper()
	url := pgtest.Server(t, nil).URL("postgres")
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	migrator, err := migrate.New(config, migrate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrator.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	return url
}

// serverProcesses returns the processes of the server, the postmaster first.
func serverProcesses(t *testing.T, pool *pgxpool.Pool) []int {
	t.Helper()
	postmaster, err := strconv.Atoi(pgtest.Value[string](t, pool,
		`select split_part(pg_read_file('postmaster.pid'), e'\n', 1)`))
	if err != nil {
		t.Fatal(err)
	}
	processes := []int{postmaster}
	folders, err := os.ReadDir("/proc")
	if err != nil {
		t.Skip("there is no /proc to find the server's processes in")
	}
	for _, folder := range folders {
		pid, err := strconv.Atoi(folder.Name())
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue // it has ended
		}
		_, after, _ := strings.Cut(string(stat), ") ")
		if fields := strings.Fields(after); len(fields) > 1 && fields[1] == strconv.Itoa(postmaster) {
			processes = append(processes, pid)
		}
	}
	return processes
}

func signalAll(t *testing.T, processes []int, signal syscall.Signal) {
	t.Helper()
	for _, pid := range processes {
		if err := pgtest.Kill(pid, signal); err != nil && err != syscall.ESRCH {
			t.Fatal(err)
		}
	}
}

// The worker is killed between two steps.
func TestTheRetryOfAKilledWorkersJobRunsOnlyTheMissingSteps(t *testing.T) {
	t.Parallel()
	f := newFleet(t, pgtest.Database(t))
	pgtest.Hurry(t, f.pool)
	f.start("victim")
	f.await(registered, 1)
	f.exec("select graphile_worker.add_job('steps')")
	f.awaitNotes(2, "step")
	f.start("heir")
	f.awaitNotes(1, "done")
	want := []string{"step one victim", "step two victim", "step three heir", "step four heir"}
	if got := f.notes("step"); !slices.Equal(got, want) {
		t.Errorf("ran %q", got)
	}
	f.await("select count(*) = 0 from graphile_worker.jobs")
	f.exec("select graphile_worker.cleanup('{}')")
	f.await("select count(*) = 0 from graphile_worker._gw_steps")
}

// One job kills each worker that runs it. Each worker that ends is replaced.
func TestAPoisonJobFailsAndAllOthersAreDone(t *testing.T) {
	t.Parallel()
	const good = 200
	f := newFleet(t, pgtest.Database(t))
	pgtest.Hurry(t, f.pool)
	f.exec("select graphile_worker.add_job('good') from generate_series(1, $1)", good/2)
	f.exec("select graphile_worker.add_job('poison', job_key => 'poison')")
	f.exec("select graphile_worker.add_job('good') from generate_series(1, $1)", good/2)
	for i := range 4 {
		f.supervise(fmt.Sprint("w", i))
	}
	f.await("select count(*) = 1 and bool_and(key = 'poison' and locked_at is null and attempts = max_attempts) from graphile_worker.jobs")
	reason := pgtest.Value[string](t, f.pool, "select last_error from graphile_worker.jobs")
	if !strings.HasPrefix(reason, "Probably crashed its workers: 3 died while they ran it alone. Worker w") {
		t.Errorf("the reason is %q", reason)
	}
	// As a suspect it runs beside other jobs at most once: if no worker was free of other jobs in time.
	if killed := f.notes("killed"); len(killed) != 4 && len(killed) != 5 {
		t.Errorf("beside others and three times alone: %q", killed)
	}
	done := make(map[string]bool)
	for _, line := range f.notes("done") {
		done[line] = true
	}
	if len(done) != good {
		t.Errorf("%d good jobs were done, want %d", len(done), good)
	}
	f.await("select not exists (select from graphile_worker._gw_suspects)")
}

// A worker is killed while it runs two jobs, and the next one while it runs these and another one: none of them counts as the
// cause, and no job waits for them.
func TestACrashBesideOthersCountsForNoJobAndStopsNone(t *testing.T) {
	t.Parallel()
	f := newFleet(t, pgtest.Database(t))
	pgtest.Hurry(t, f.pool)
	f.exec("select graphile_worker.add_job('gated', max_attempts => 2, job_key => 'suspect' || n) from generate_series(1, 2) as n")
	victim := f.start("victim")
	f.awaitNotes(2, "started")
	victim.signal(syscall.SIGKILL)
	<-victim.end
	// A claim that was running when the worker was killed must not claim the other job.
	f.await(`select not exists (select from pg_stat_activity as a
	                             where a.datname = current_database() and a.query like '%get_job' || '_batch%')`)
	heir := f.start("heir")
	f.exec("select graphile_worker.add_job('gated', max_attempts => 1, job_key => 'neighbour')")
	f.exec("select graphile_worker.add_job('good') from generate_series(1, 20)")
	f.awaitNotes(20, "done")
	f.await("select count(*) = 3 from graphile_worker.jobs where locked_by = 'heir'")
	f.exec("select graphile_worker.add_job('good') from generate_series(1, 20)")
	f.awaitNotes(40, "done") // beside all of them
	// A job whose outcome is not yet reported would be a suspect, too.
	f.await("select count(*) = 3 from graphile_worker.jobs")
	f.await("select bool_or(not is_alone) from graphile_worker._gw_suspects")
	heir.signal(syscall.SIGKILL)
	<-heir.end
	f.start("last")
	f.await("select count(*) = 3 from graphile_worker._gw_suspects where crashes = 0")
	f.await("select count(*) = 1 from graphile_worker.jobs where locked_by = 'last'") // alone, one after the other
	f.open()
	f.await("select not exists (select from graphile_worker.jobs)") // so none has failed
	f.await("select not exists (select from graphile_worker._gw_suspects)")
}
