package gwui_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwui"
)

var (
	loadJobs    = flag.Int("gwui.jobs", 20_000, "jobs of the large queue, a tenth of them failed")
	loadMade    = flag.String("gwui.database", "", "URL of a database that has the large queue already; it is kept")
	loadLooks   = flag.Int("gwui.looks", 1, "how often each page of the large queue is read, to tell how long that takes")
	loadViewers = flag.Int("gwui.viewers", 0, "viewers of open pages of the large queue, to tell what they cost")
	loadFor     = flag.Duration("gwui.for", time.Minute, "how long they look")
)

// large fills the queue: many tasks and errors, named queues, failed, scheduled and running jobs, a limit with many lanes.
const large = `
	set search_path = graphile_worker;
	select set_limit('exports', '{export}', by => 'payload:tenant', max_running => 1, total_running => 50);
	select get_job('mover', '{none}') from generate_series(1, 10);
	insert into _private_tasks (identifier) select 'task-' || n from generate_series(1, 30) as n;
	insert into _private_job_queues (queue_name) select 'queue-' || n from generate_series(1, 100) as n;
	insert into _private_jobs (task_id, job_queue_id, run_at, max_attempts, attempts, last_error, locked_at, locked_by, payload)
	select t.ids[1 + case when n %% 100000 = 7 then 29 else n %% 29 end], case when n %% 20 = 3 then q.ids[1 + n / 20 %% 100] end,
	       now() + (n %% 1000 - 700) * interval '1 minute', 25, case when n %% 10 = 0 then 25 else 0 end,
	       case when n %% 10 = 0 then 'HTTP ' || 400 + n / 10 %% 100 || ': mailbox ' || n || ' is full' end,
	       case when n %% 1000 = 1 then now() end, case when n %% 1000 = 1 then 'worker-' || n / 1000 %% 20 end,
	       json_build_object('to', n || '@example.com')
	  from generate_series(1, %d) as n,
	       (select array_agg(t.id order by t.id) as ids from _private_tasks as t where t.identifier like 'task-%%') as t,
	       (select array_agg(q.id) as ids from _private_job_queues as q) as q;
	select add_job('export', json_build_object('tenant', n %% 200)) from generate_series(1, 600) as n;
	select count(*) from get_job_batch('worker-1', '{export}', batch_size => 40);
	select register_worker('worker-' || n, '{}', 10, 'host', n, 'v1') from generate_series(1, 20) as n;
	insert into _gw_samples select now() - n * interval '1 minute', n, 1, 1, n, false, n, 1, 100000 - n, 90000 - n from generate_series(1, 10000) as n;
	insert into _gw_audit (act, jobs, subject, role) select 'retry', n, 'subject ' || n, 'ada' from generate_series(1, 10000) as n;
	set search_path = public`

// loadPages are pages of the large queue, the most expensive filters among them.
var loadPages = []string{
	"", "?over=week", "jobs", "jobs?state=failed", "jobs?state=running", "jobs?state=ready&queue=queue-7", "jobs?task=task-30",
	"jobs?state=failed&error=nothing+like+it", "jobs?newer=1s", "jobs/41", "jobs/44", "tasks", "queues", "limits", "limits/lanes?limit=exports",
	"task?task=task-3", "task?task=task-30", "queue?queue=queue-7", "worker?worker=worker-1",
	"workers", "recurring", "audit", "settings", "jobs/act?act=retry&all=1&state=failed", "jobs/act?act=cancel&all=1&task=task-30",
}

// The console of a large queue answers on every page. With flags the test measures how soon, and what open pages cost.
func TestEveryPageOfALargeQueueAnswers(t *testing.T) {
	isMeasured := *loadMade != "" || *loadJobs > 20_000
	database := *loadMade
	if database == "" {
		database = pgtest.Database(t)
	}
	owner := pgtest.Pool(t, database)
	asked := &backends{}
	config := owner.Config()
	config.ConnConfig.Tracer = asked
	config.AfterConnect = asked.note
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	if *loadMade == "" {
		pgtest.Exec(t, owner, fmt.Sprintf(large, *loadJobs))
		pgtest.Exec(t, owner, "vacuum (analyze) graphile_worker._private_jobs")
	}
	pgtest.Exec(t, owner, "select graphile_worker.heartbeat('worker-1')")
	s := serve(t, owner, pool, gwui.Config{})
	if isMeasured {
		s.console.SetReadTimeout(gwui.ReadTimeout)
	}
	for _, path := range loadPages {
		var shown, whole []time.Duration
		used := asked.cpu()
		for range *loadLooks {
			s.console.Forget()
			began := time.Now()
			if isMeasured { // how long until the page is shown, and until all its panels are there
				s.console.SetPatience(gwui.Patience)
				s.get(path)
				shown = append(shown, time.Since(began))
				s.console.SetPatience(time.Minute)
			}
			p := s.get(path)
			whole = append(whole, time.Since(began))
			if p.status != 200 || strings.Contains(p.body, `class="problem"`) {
				t.Errorf("%q answers %d: %s", path, p.status, p.body)
			}
		}
		if isMeasured {
			t.Logf("%-45q shown %s  whole %s  time of a core in the database %4d ms", path, centiles(shown), centiles(whole),
				(asked.cpu()-used).Milliseconds()/int64(*loadLooks))
		}
	}
	if *loadViewers > 0 {
		s.watch(asked)
	}
}

// centiles returns the median and the 95th percentile of some times.
func centiles(took []time.Duration) string {
	slices.Sort(took)
	return fmt.Sprintf("p50 %4d p95 %4d ms", took[len(took)/2].Milliseconds(), took[len(took)*95/100].Milliseconds())
}

// watch opens pages for a while and measures what they cost.
func (s *site) watch(asked *backends) {
	for _, path := range []string{"", "jobs?state=failed"} {
		ctx, leave := context.WithTimeout(s.t.Context(), *loadFor)
		var all sync.WaitGroup
		var events atomic.Int64
		queries, database, own := asked.queries.Load(), asked.cpu(), ownCPU()
		for range *loadViewers {
			stream := s.stream(ctx, path)
			all.Go(func() {
				for range stream {
					events.Add(1)
				}
			})
		}
		all.Wait()
		leave()
		share := func(d time.Duration) float64 { return 100 * d.Seconds() / loadFor.Seconds() }
		s.t.Logf("%d viewers of %q for %s: %d events, %d statements; of a core: the database %.2f %%, the console with its viewers %.2f %%",
			*loadViewers, path, *loadFor, events.Load(), asked.queries.Load()-queries, share(asked.cpu()-database), share(ownCPU()-own))
	}
}

// backends are the server's processes for a pool, and how many statements they have received.
type backends struct {
	queries atomic.Int64
	mu      sync.Mutex
	pids    []uint32
}

func (b *backends) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	b.queries.Add(1)
	return ctx
}

func (b *backends) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (b *backends) note(_ context.Context, conn *pgx.Conn) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.pids = append(b.pids, conn.PgConn().PID())
	return nil
}

// cpu returns the time of a core that they have used, on a server of this machine.
func (b *backends) cpu() (used time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, pid := range b.pids {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		_, rest, _ := strings.Cut(string(text), ") ")
		var user, system int64
		if fields := strings.Fields(rest); len(fields) > 12 {
			_, _ = fmt.Sscan(fields[11]+" "+fields[12], &user, &system)
		}
		used += time.Duration(user+system) * 10 * time.Millisecond
	}
	return used
}

// ownCPU returns the time of a core that this process has used.
func ownCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
