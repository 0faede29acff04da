package gwprom_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwprom"
	"github.com/gwsql/gw/pkg/shim"
)

func TestAScrapeSaysHowManyJobsStandWhere(t *testing.T) {
	pool := pgtest.Pool(t, pgtest.Database(t))
	pgtest.Exec(t, pool, `select graphile_worker.add_job('a', run_at => now() - interval '1 hour')`)
	pgtest.Exec(t, pool, `select graphile_worker.add_job('a', run_at => now() + interval '1 hour') from generate_series(1, 2)`)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(gwprom.NewQueueCollector(shim.NewClient(pool, shim.ClientConfig{}), gwprom.QueueConfig{}))
	err := testutil.GatherAndCompare(registry, strings.NewReader(`
		# HELP gw_queue_depth Jobs in the queue by state: ready, scheduled, running or failed. An estimate if there are too many to count.
		# TYPE gw_queue_depth gauge
		gw_queue_depth{state="failed"} 0
		gw_queue_depth{state="ready"} 1
		gw_queue_depth{state="running"} 0
		gw_queue_depth{state="scheduled"} 2
		# HELP gw_queue_up 1 if the database could be queried, so that the other metrics of the queue are present, otherwise 0.
		# TYPE gw_queue_up gauge
		gw_queue_up 1
	`), "gw_queue_depth", "gw_queue_up")
	if err != nil {
		t.Error(err)
	}
	if got := read(t, registry, "gw_oldest_ready_seconds"); got < 3600 || got > 7200 {
		t.Errorf("the oldest waits for %v s", got)
	}
}

func TestScrapesInARowShareAnAnswerForAWhile(t *testing.T) {
	for _, c := range []struct {
		maxAge time.Duration
		want   float64 // ready jobs by the second scrape
	}{{time.Hour, 1}, {-1, 2}} {
		pool := pgtest.Pool(t, pgtest.Database(t))
		registry := prometheus.NewPedanticRegistry()
		registry.MustRegister(gwprom.NewQueueCollector(shim.NewClient(pool, shim.ClientConfig{}),
			gwprom.QueueConfig{MaxAge: c.maxAge}))
		ready := func() float64 {
			pgtest.Exec(t, pool, `select graphile_worker.add_job('a')`)
			return find(t, registry, "gw_queue_depth", []string{"state=ready"}).GetGauge().GetValue()
		}
		if first, second := ready(), ready(); first != 1 || second != c.want {
			t.Errorf("max age %s: %v, then %v ready jobs, want 1 and %v", c.maxAge, first, second, c.want)
		}
	}
}

func TestAScrapeGoesOnWithoutTheDatabase(t *testing.T) {
	pool := pgtest.Pool(t, pgtest.Database(t))
	pgtest.Exec(t, pool, `drop schema graphile_worker cascade`)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(gwprom.NewQueueCollector(shim.NewClient(pool, shim.ClientConfig{}),
		gwprom.QueueConfig{Logger: slog.New(slog.DiscardHandler)}))
	families, err := registry.Gather()
	if err != nil || len(families) != 1 {
		t.Errorf("got %v, %v", families, err)
	}
	if up := find(t, registry, "gw_queue_up", nil); up == nil || up.GetGauge().GetValue() != 0 {
		t.Errorf("gw_queue_up is %v", up)
	}
}

func TestAScrapeSaysHowManyJobsOfALimitRunAndHowManyPausesThereAre(t *testing.T) {
	pool := pgtest.Pool(t, pgtest.Database(t))
	pgtest.Exec(t, pool, `select graphile_worker.set_limit('limit ' || to_char(n, 'FM000'), tasks => array['t' || n], by => 'payload:k', max_running => 2)
		from generate_series(1, 101) as n`)
	pgtest.Exec(t, pool, `select graphile_worker.add_job('t1', json_build_object('k', n % 2)) from generate_series(1, 6) as n`)
	pgtest.Exec(t, pool, `select graphile_worker.get_job_batch('w', batch_size => 3)`)
	pgtest.Exec(t, pool, `select graphile_worker.pause(task => 'a'), graphile_worker.pause()`)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(gwprom.NewQueueCollector(shim.NewClient(pool, shim.ClientConfig{}), gwprom.QueueConfig{}))
	for name, want := range map[string]float64{"gw_limit_running": 3, "gw_limit_lanes": 2, "gw_limit_full_lanes": 1,
		"gw_limit_closed_lanes": 0} {
		if got := find(t, registry, name, []string{"limit=limit 001"}); got == nil ||
			got.GetGauge().GetValue() != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
		if n, err := testutil.GatherAndCount(registry, name); err != nil || n != 100 {
			t.Errorf("%s has %d values, want those of 100 limits; %v", name, n, err)
		}
	}
	if got := read(t, registry, "gw_pauses"); got != 2 {
		t.Errorf("%v pauses", got)
	}
}

func TestAScrapeSaysWhatDoctorFinds(t *testing.T) {
	pool := pgtest.Pool(t, pgtest.Database(t))
	pgtest.Exec(t, pool, `select graphile_worker.add_job('task', queue_name => 'q')`)
	pgtest.Exec(t, pool, `select setval(pg_get_serial_sequence('graphile_worker._private_jobs', 'id'), 1, false)`)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(gwprom.NewQueueCollector(shim.NewClient(pool, shim.ClientConfig{}), gwprom.QueueConfig{}))
	got := find(t, registry, "gw_doctor_findings", []string{"finding=sequence behind", "severity=critical"})
	if got == nil || got.GetGauge().GetValue() != 1 {
		t.Errorf("the sequence that is behind makes the metric %v", got)
	}
}
