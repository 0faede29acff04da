package baddays

import (
	"flag"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

var jobsFlag = flag.Int("baddays.jobs", 10000,
	"how many `jobs` four workers do; from 100000 on their memory is looked at")

// Four workers run many jobs. Job number n has priority n % 7 - 3; every tenth job is in one of 50 queues; every 97th fails once,
// every 970th twice.
func TestAFloodOfMixedJobsLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	jobs := *jobsFlag
	f := newFleet(t, pgtest.Database(t))
	l := &load{f: f, stop: func() {}}
	f.exec(`insert into graphile_worker._private_job_queues (queue_name) select 'q' || n from generate_series(0, 49) as n`)
	for first := 0; first < jobs; first += 1000 {
		f.exec(`select count(*) from graphile_worker.add_jobs((
			select array_agg(json_populate_record(null::graphile_worker.job_spec, json_build_object(
			         'identifier', 'work',
			         'payload', json_build_object('N', n, 'Fails', case when n % 970 = 0 then 2 when n % 97 = 0 then 1 else 0 end),
			         'queue_name', case when n % 10 = 0 then 'q' || n / 10 % 50 end, 'priority', n % 7 - 3)))
			  from generate_series($1::integer, $2::integer) as n))`, first+1, min(first+1000, jobs))
	}
	for n := range jobs {
		l.acked = append(l.acked, request{n: n + 1})
	}
	workers := f.workers(4, f.url)
	watch := f.watchMemory(workers)
	f.awaitEmpty()
	watch.stop()
	for _, w := range workers {
		w.leave()
	}
	f.account(l)
	f.accountRetries(jobs)
	f.accountOrder()
	f.awaitNothing()
	if jobs >= 100000 {
		watch.judge(jobs)
	}
}

// awaitEmpty waits until no job is left. It fails the test if there is no progress.
func (f *fleet) awaitEmpty() {
	f.t.Helper()
	var last int64
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for deadline := time.Now().Add(patience); ; <-again.C {
		if pgtest.Value[bool](f.t, f.pool, "select not exists (select from graphile_worker._private_jobs)") {
			return
		}
		if size := f.noted(); size > last {
			last, deadline = size, time.Now().Add(patience)
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("no job has been completed for a while\n%s", f.state())
		}
	}
}

// noted returns the size of the notes, which shows the progress of the workers.
func (f *fleet) noted() int64 {
	f.t.Helper()
	info, err := os.Stat(f.folder + "/notes")
	if err != nil {
		return 0 // there are no notes yet
	}
	return info.Size()
}

// accountRetries checks that each job has failed as often as its payload demands.
func (f *fleet) accountRetries(jobs int) {
	f.t.Helper()
	fails := make([]int, jobs+1)
	for _, r := range f.runs() {
		if r.failed {
			fails[r.n]++
		}
	}
	for n, got := range fails[1:] {
		n++
		want := 0
		if n%97 == 0 {
			want++
		}
		if n%970 == 0 {
			want++
		}
		if got != want {
			f.t.Errorf("job %d failed %d times, want %d times", n, got, want)
		}
	}
}

// accountOrder checks that the jobs of each queue, all of which were added before the first one ran, started by priority and then
// in the order in which they were added; retries of failed jobs start later.
func (f *fleet) accountOrder() {
	f.t.Helper()
	last := make(map[string]int) // by queue
	again := make(map[int]bool)
	for _, r := range f.runs() {
		if r.queue == "" || again[r.n] {
			continue
		}
		again[r.n] = true
		if before, any := last[r.queue]; any && (r.n%7 < before%7 || r.n%7 == before%7 && r.n < before) {
			f.t.Errorf("job %d started after job %d of queue %s", r.n, before, r.queue)
		}
		last[r.queue] = r.n
	}
	if len(last) == 0 {
		f.t.Error("no job was in a queue")
	}
}

// leave asks a worker to stop, and checks that it exits with code 0.
func (w *worker) leave() {
	w.t.Helper()
	w.signal(syscall.SIGTERM)
	<-w.end
	if code := w.cmd.ProcessState.ExitCode(); code != 0 {
		w.t.Errorf("%s left with %s", w.id, w.cmd.ProcessState)
	}
}

// awaitNothing checks that stopped workers and completed jobs leave nothing behind: no lock, and no row in any table except those
// of names, settings, samples and installed functions.
func (f *fleet) awaitNothing() {
	f.t.Helper()
	f.await(`select count(*) = 0 from graphile_worker._private_job_queues where locked_at is not null or locked_by is not null`)
	kept := []string{
		"_private_job_queues", "_private_tasks", "_private_known_crontabs", "migrations", "_gw_schema_version",
		"_gw_installed", "_gw_breaking_versions", "_gw_settings", "_gw_turns", "_gw_cron_patterns", "_gw_schedules",
		"_gw_claim_cursors", "_gw_limit_changes", "_gw_samples",
	}
	tables := pgtest.Value[[]string](f.t, f.pool, `
		select array_agg(c.relname::text order by c.relname)
		  from pg_class as c
		 where c.relnamespace = 'graphile_worker'::regnamespace and c.relkind = 'r'`)
	for _, table := range tables {
		if slices.Contains(kept, table) {
			continue
		}
		if n := pgtest.Value[int](f.t, f.pool, `select count(*) from graphile_worker.`+table); n > 0 {
			f.t.Errorf("%d rows are left in %s", n, table)
		}
	}
	if len(tables) < len(kept)+4 {
		f.t.Errorf("there are only the tables %q", tables)
	}
	locks := pgtest.Value[int](f.t, f.pool, `
		select count(*) from pg_locks as l join pg_stat_activity as a using (pid)
		 where a.datname = current_database() and a.backend_type = 'client backend' and a.pid <> pg_backend_pid()`)
	if locks > 0 {
		f.t.Errorf("%d locks are held", locks)
	}
}
