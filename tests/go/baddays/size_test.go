package baddays

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

var jobsFlag = flag.Int("baddays.jobs", 10000, "how many `jobs` four workers do; from 100000 on their memory is looked at")

// Many jobs of mixed priorities, some in queues, some of which fail at first, through four workers.
func TestAFloodOfMixedJobsLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	jobs := *jobsFlag
	f := newFleet(t, pgtest.Database(t))
	l := &load{f: f, stop: func() {}}
	f.exec(`insert into graphile_worker._private_job_queues (queue_name) select 'q' || n from generate_series(0, 49) as n`)
	for first := 0; first < jobs; first += 1000 {
		f.exec(`select count(*) from graphile_worker.add_jobs((
			select array_agg(json_populate_record(null::graphile_worker.job_spec, json_build_object(
			         'identifier', 'work', 'payload', json_build_object('N', n, 'Milliseconds', 0, 'Fails', n % 100 = 0),
			         'queue_name', case when n % 10 = 0 then 'q' || n / 10 % 50 end, 'priority', n % 7 - 3)))
			  from generate_series($1::integer, $2::integer) as n))`, first+1, min(first+1000, jobs))
	}
	for n := range jobs {
		l.acked = append(l.acked, request{n: n + 1})
	}
	workers := f.workers(4, f.url)
	if jobs >= 100000 {
		f.await("select count(*) < $1 from graphile_worker.jobs", jobs*3/4)
		early := make([]int, len(workers))
		for i, w := range workers {
			early[i] = w.memory()
		}
		f.await("select count(*) < $1 from graphile_worker.jobs", jobs/100+1)
		for i, w := range workers {
			late := w.memory()
			t.Logf("%s: %d MB after a quarter, %d MB at the end", w.id, early[i]>>10, late>>10)
			if late > 2*early[i]+20<<10 {
				t.Error("its memory has grown")
			}
		}
	}
	f.await("select count(*) = 0 from graphile_worker.jobs")
	f.await("select count(*) = 0 from graphile_worker._private_job_queues where locked_at is not null")
	f.account(l)
}

// memory returns what the process has resident, in kB.
func (w *worker) memory() int {
	w.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid))
	if err != nil {
		w.t.Skip("there is no /proc to read a process's memory from")
	}
	kB, err := strconv.Atoi(string(regexp.MustCompile(`VmRSS:\s+(\d+)`).FindSubmatch(status)[1]))
	if err != nil {
		w.t.Fatal(err)
	}
	return kB
}
