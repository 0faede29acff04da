package gwprom_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwprom"
	"github.com/gwsql/gw/pkg/shim"
)

func TestJobsAreCountedByTaskAndOutcome(t *testing.T) {
	url := pgtest.Database(t)
	pool := pgtest.Pool(t, url)
	metrics, registry := newMetrics(t)
	w := newWorker(t, url, shim.Config{})
	metrics.Watch(w)
	w.Handle("good", func(context.Context, *shim.Job) error { return nil })
	w.Handle("bad", func(context.Context, *shim.Job) error { return errors.New("no") })
	w.Handle("hopeless", func(context.Context, *shim.Job) error { return shim.Discard(errors.New("no")) })
	w.Handle("early", func(context.Context, *shim.Job) error { return shim.Snooze(time.Hour) })
	pgtest.Exec(t, pool, `
		select graphile_worker.add_job(task)
		  from unnest('{good,good,bad,hopeless,early}'::text[]) as task`)
	pgtest.Exec(t, pool, `select graphile_worker.add_job('good', run_at => now() - interval '1 hour')`)
	pgtest.Exec(t, pool, `update graphile_worker._private_jobs set created_at = run_at`)
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}

	err := testutil.GatherAndCompare(registry, strings.NewReader(`
		# HELP gw_jobs_running Running handlers.
		# TYPE gw_jobs_running gauge
		gw_jobs_running{task="bad"} 0
		gw_jobs_running{task="early"} 0
		gw_jobs_running{task="good"} 0
		gw_jobs_running{task="hopeless"} 0
		# HELP gw_jobs_total Claims of jobs that ended, by outcome.
		# TYPE gw_jobs_total counter
		gw_jobs_total{outcome="completed",task="good"} 3
		gw_jobs_total{outcome="failed",task="bad"} 1
		gw_jobs_total{outcome="permanently_failed",task="hopeless"} 1
		gw_jobs_total{outcome="snoozed",task="early"} 1
	`), "gw_jobs_total", "gw_jobs_running")
	if err != nil {
		t.Error(err)
	}
	for name, want := range map[string]float64{"gw_job_duration_seconds": 3, "gw_job_latency_seconds": 3} {
		if got := read(t, registry, name, "task=good"); got != want {
			t.Errorf("%s has %v observations, want %v", name, got, want)
		}
	}
	latency := find(t, registry, "gw_job_latency_seconds", []string{"task=good"}).GetHistogram().GetSampleSum()
	if latency < 3600 || latency > 7200 {
		t.Errorf("the good jobs waited %v s, want a good hour", latency)
	}
	if got := read(t, registry, "gw_fetch_duration_seconds"); got < 2 {
		t.Errorf("%v claims were timed, want at least two: one with jobs and an empty one", got)
	}
	if got := read(t, registry, "gw_workers_running"); got != 0 {
		t.Errorf("%v workers run", got)
	}
}

func TestWhatRunsNowShows(t *testing.T) {
	url := pgtest.Database(t)
	metrics, registry := newMetrics(t)
	w := newWorker(t, url, shim.Config{Concurrency: 2})
	metrics.Watch(w)
	release := make(chan struct{})
	w.Handle("slow", func(context.Context, *shim.Job) error {
		<-release
		return nil
	})
	pgtest.Exec(t, pgtest.Pool(t, url), `select graphile_worker.add_job('slow') from generate_series(1, 3)`)
	done := make(chan error)
	go func() { done <- w.RunOnce(context.Background()) }()
	await(t, 2, registry, "gw_jobs_running", "task=slow")
	await(t, 1, registry, "gw_workers_running")
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := read(t, registry, "gw_jobs_running", "task=slow"); got != 0 {
		t.Errorf("%v still run", got)
	}
}

func TestALostListeningConnectionCounts(t *testing.T) {
	url := pgtest.Database(t)
	pool := pgtest.Pool(t, url)
	metrics, registry := newMetrics(t)
	w := newWorker(t, url, shim.Config{})
	stop := metrics.Watch(w)
	w.Handle("any", func(context.Context, *shim.Job) error { return nil })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- w.Run(ctx) }()
	await(t, 1, registry, "gw_listeners_connected")
	if got := read(t, registry, "gw_listener_reconnects_total"); got != 0 {
		t.Errorf("the first connection counts as %v reconnects", got)
	}
	pgtest.Exec(t, pool, `
		select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen %'`)
	await(t, 1, registry, "gw_listener_reconnects_total")
	await(t, 1, registry, "gw_listeners_connected")
	cancel()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	await(t, 0, registry, "gw_listeners_connected")
	stop()
	stop()
}

func TestAFailedClaimCounts(t *testing.T) {
	url := pgtest.Database(t)
	metrics, registry := newMetrics(t)
	asked := false
	w := newWorker(t, url, shim.Config{ForbiddenFlagsFunc: func(context.Context) ([]string, error) {
		if asked {
			return nil, nil
		}
		asked = true
		return nil, errors.New("do not know yet")
	}})
	metrics.Watch(w)
	w.Handle("any", func(context.Context, *shim.Job) error { return nil })
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := read(t, registry, "gw_fetch_errors_total"); got != 1 {
		t.Errorf("%v errors, want one", got)
	}
}

func TestNothingIsRegisteredIfSomethingCannotBe(t *testing.T) {
	registry := prometheus.NewRegistry()
	taken := prometheus.NewCounter(prometheus.CounterOpts{Name: "gw_fetch_errors_total", Help: "Failed claims."})
	registry.MustRegister(taken)
	if _, err := gwprom.New(registry); err == nil {
		t.Fatal("the name was free")
	}
	registry.Unregister(taken)
	if _, err := gwprom.New(registry); err != nil {
		t.Error(err)
	}
}

func TestMetricsAreNamedAsPrometheusAsksAndDocumented(t *testing.T) {
	url := pgtest.Database(t)
	pgtest.Exec(t, pgtest.Pool(t, url), `select graphile_worker.set_limit('any', max_running => 1)`)
	metrics, registry := newMetrics(t)
	w := newWorker(t, url, shim.Config{})
	metrics.Watch(w)
	registry.MustRegister(gwprom.NewQueueCollector(w.Client(), gwprom.QueueConfig{}))
	gwprom.See(metrics,
		shim.JobStarted{Job: &shim.Job{}}, shim.JobReported{Job: &shim.Job{}, Started: true},
		shim.CronScheduled{Jobs: make([]shim.CronJob, 1)}, shim.CronBackfilled{Jobs: make([]shim.CronJob, 1)})
	problems, err := testutil.GatherAndLint(registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}

	page, err := os.ReadFile("../../docs/observe.md")
	if err != nil {
		t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	if len(families) != 23 {
		t.Errorf("there are %d metrics: is one missing here?", len(families))
	}
	for _, family := range families {
		if !strings.Contains(string(page), "| `"+family.GetName()) {
			t.Errorf("docs/observe.md lacks %s", family.GetName())
		}
	}
}
