package gwprom_test

import (
	"testing"

	"github.com/gwsql/gw/pkg/gwprom"
	"github.com/gwsql/gw/pkg/shim"
)

func TestEventsThatWereDroppedLeaveNothingRunning(t *testing.T) {
	job, other := &shim.Job{TaskIdentifier: "a"}, &shim.Job{TaskIdentifier: "a"}
	for name, events := range map[string][]shim.Event{
		"the end of the handler": {shim.JobStarted{Job: job},
			shim.JobReported{Job: job, Outcome: shim.OutcomeCompleted}},
		"its begin": {shim.JobSucceeded{Job: job},
			shim.JobReported{Job: job, Outcome: shim.OutcomeCompleted}},
		"both ends": {shim.WorkerStarted{}, shim.JobStarted{Job: job}, shim.JobStarted{Job: other},
			shim.WorkerStopped{}},
	} {
		t.Run(name, func(t *testing.T) {
			metrics, registry := newMetrics(t)
			gwprom.See(metrics, events...)
			if got := read(t, registry, "gw_jobs_running", "task=a"); got != 0 {
				t.Errorf("%v run", got)
			}
		})
	}
}

func TestARunThatNeverStartedCountsAsNoWorker(t *testing.T) {
	metrics, registry := newMetrics(t)
	gwprom.See(metrics, shim.WorkerStopped{}, shim.WorkerStarted{}, shim.WorkerFailed{})
	if got := read(t, registry, "gw_workers_running"); got != 1 {
		t.Errorf("%v workers run, want the one that started", got)
	}
	if got := read(t, registry, "gw_worker_failures_total"); got != 1 {
		t.Errorf("%v failures, want one", got)
	}
}

func TestCronAndSweepsAreCounted(t *testing.T) {
	metrics, registry := newMetrics(t)
	gwprom.See(metrics,
		shim.CronScheduled{Jobs: []shim.CronJob{{Task: "a"}, {Task: "b"}}},
		shim.CronScheduled{Jobs: []shim.CronJob{{Task: "a"}}},
		shim.CronBackfilled{Jobs: []shim.CronJob{{Task: "b"}}},
		shim.CronFailed{},
		shim.SweepSucceeded{Freed: 3},
	)
	for _, want := range []struct {
		value  float64
		name   string
		labels []string
	}{
		{2, "gw_cron_jobs_total", []string{"task=a"}},
		{1, "gw_cron_jobs_total", []string{"task=b"}},
		{1, "gw_cron_backfilled_jobs_total", []string{"task=b"}},
		{1, "gw_cron_errors_total", nil},
		{3, "gw_stale_jobs_freed_total", nil},
	} {
		if got := read(t, registry, want.name, want.labels...); got != want.value {
			t.Errorf("%s%q is %v, want %v", want.name, want.labels, got, want.value)
		}
	}
}
