package prometheus

import (
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/storage"
)

// alerts returns the rules by their names.
func alerts(t *testing.T) map[string]rulefmt.Rule {
	t.Helper()
	file, problems := rulefmt.ParseFile("alerts.yaml", false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	for _, problem := range problems {
		t.Error(problem)
	}
	if t.Failed() {
		t.FailNow()
	}
	rules := make(map[string]rulefmt.Rule)
	for _, group := range file.Groups {
		for _, rule := range group.Rules {
			rules[rule.Alert] = rule
		}
	}
	return rules
}

// query evaluates an expression at each step up to the end.
func query(t *testing.T, samples storage.Queryable, expression string, end, step time.Duration) promql.Matrix {
	t.Helper()
	engine := promqltest.NewTestEngine(t, false, 0, 1_000_000)
	q, err := engine.NewRangeQuery(t.Context(), samples, nil, expression, time.Unix(0, 0), time.Unix(0, 0).Add(end), step)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	result := q.Exec(t.Context())
	if result.Err != nil || len(result.Warnings) > 0 {
		t.Fatalf("%s: %v, warnings %v", expression, result.Err, result.Warnings)
	}
	matrix, err := result.Matrix()
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return matrix
}

// fires reports whether an alert fires in two days of samples: whether its expression has a result for as long as it says.
func fires(t *testing.T, rule rulefmt.Rule, samples storage.Queryable) bool {
	t.Helper()
	const step = time.Minute
	for _, series := range query(t, samples, rule.Expr, 48*time.Hour, step) {
		run := time.Duration(0)
		for i, point := range series.Floats {
			if i > 0 && point.T-series.Floats[i-1].T == step.Milliseconds() {
				run += step
			} else {
				run = 0
			}
			if run >= time.Duration(rule.For) {
				return true
			}
		}
	}
	return false
}

func TestEachAlertFiresWhenItShallAndOnlyThen(t *testing.T) {
	rules := alerts(t)
	// Series of two days, a sample a minute: with the first ones the alert fires, with the others it does not.
	cases := map[string]struct{ fire, rest []string }{
		"GwJobsAreLate": {
			[]string{"gw_oldest_ready_seconds 301x2880", "gw_oldest_ready_seconds 0x60 310+60x8 0x2800"},
			[]string{"gw_oldest_ready_seconds 300x2880", "gw_oldest_ready_seconds 0x60 310+60x3 0x2800"}},
		"GwNoWorker": {
			[]string{"gw_workers_running 1x60 0x2800", "other 1x2880", "gw_workers_running 1x60"},
			[]string{"gw_workers_running 1x2880", "gw_workers_running{i=\"a\"} 0x2880\n gw_workers_running{i=\"b\"} 1x2880", "gw_workers_running 1x60 0x3 1x2900"}},
		"GwDatabaseUnreachable": {
			[]string{"gw_queue_up 1x60 0x5 1x2800"},
			[]string{"gw_queue_up 1x2880", "gw_queue_up 1x60 0 1x2800", "gw_queue_up{i=\"a\"} 0x2880\n gw_queue_up{i=\"b\"} 1x2880"}},
		"GwClaimsFail": {
			[]string{"gw_fetch_errors_total 0x60 0+1x30 30x2780"},
			[]string{"gw_fetch_errors_total 7x2880", "gw_fetch_errors_total 0x60 1x2800"}},
		"GwJobsFail": {
			[]string{"gw_queue_depth{state=\"failed\"} 5x60 6x2800"},
			[]string{"gw_queue_depth{state=\"failed\"} 5x2880", "gw_queue_depth{state=\"ready\"} 0+1x2880", "gw_queue_depth{state=\"failed\"} 2000-1x1900"}},
		"GwRecurringJobsFail": {
			[]string{"gw_cron_errors_total 0x60 0+1x30 30x2780"},
			[]string{"gw_cron_errors_total 7x2880", "gw_cron_errors_total 0x60 1x2800"}},
		"GwManyFailedJobs": {
			[]string{"gw_queue_depth{state=\"failed\"} 0+1x2880"},
			[]string{"gw_queue_depth{state=\"failed\"} 1000x2880", "gw_queue_depth{state=\"ready\"} 5000x2880"}},
		"GwWorkersDie": {
			[]string{"gw_stale_jobs_freed_total 0x60 4x2800"},
			[]string{"gw_stale_jobs_freed_total 4x2880"}},
		"GwWorkersFail": {
			[]string{"gw_worker_failures_total 0x60 1x2800"},
			[]string{"gw_worker_failures_total 1x2880"}},
		"GwLanesStayClosed": {
			[]string{"gw_limit_closed_lanes{limit=\"api\"} 0x60 2x61 0x2700"},
			[]string{"gw_limit_closed_lanes{limit=\"api\"} 0x60 2x50 0x2700", "gw_limit_closed_lanes{limit=\"a\"} 1x50 0x2700\n gw_limit_closed_lanes{limit=\"b\"} 0x50 1x50 0x2700"}},
		"GwPausedForLong": {
			[]string{"gw_pauses 0x60 1x1441 0x1000"},
			[]string{"gw_pauses 0x60 1x1400 0x1000"}},
		"GwDoctorFindsDanger": {
			[]string{"gw_doctor_findings{severity=\"critical\", finding=\"held names\"} _x60 1x30 _x1000"},
			[]string{"gw_doctor_findings{severity=\"critical\", finding=\"held names\"} _x60 1x5 _x1000", "gw_doctor_findings{severity=\"warning\", finding=\"held names\"} 1x2880"}},
		"GwDoctorFindsProblems": {
			[]string{"gw_doctor_findings{severity=\"warning\", finding=\"silent worker\"} _x60 2x90 _x1000"},
			[]string{"gw_doctor_findings{severity=\"warning\", finding=\"silent worker\"} _x60 2x50 _x1000", "gw_doctor_findings{severity=\"info\", finding=\"silent worker\"} 2x2880"}},
	}
	for name, rule := range rules {
		c, ok := cases[name]
		if !ok {
			t.Errorf("%s is not tested", name)
		}
		for _, series := range slices.Concat(c.fire, c.rest) {
			want := slices.Contains(c.fire, series)
			samples := promqltest.LoadedStorage(t, "load 1m\n "+series+"\n")
			if got := fires(t, rule, samples); got != want {
				t.Errorf("%s fires: %v, want %v, with %s", name, got, want, series)
			}
		}
		delete(cases, name)
	}
	for name := range cases {
		t.Errorf("there is no alert %s", name)
	}
}
