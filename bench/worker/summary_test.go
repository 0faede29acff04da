package main

import (
	"strings"
	"testing"

	"github.com/gwsql/gw/bench/internal/report"
)

func TestTheSummaryHasAColumnForEachServerAndMarksWhatMissesItsGoal(t *testing.T) {
	var o outcome
	o.reach("18.4", "speed", "0.90", "at least 1", "**no**")
	o.reach("18.4", "memory", "1.01", "at most 2", "yes")
	o.reach("15.18", "speed", "1.20", "at least 1", "yes")
	if got, want := markdown(o.summary()), markdown(report.Table{
		{"what", "goal", "15.18", "18.4"}, {"speed", "at least 1", "1.20", "**0.90**"},
		{"memory", "at most 2", "", "1.01"},
	}); got != want {
		t.Errorf("the summary is\n%swant\n%s", got, want)
	}
}

func TestTablesOfAScenarioAreSideBySideAndRepeatNothing(t *testing.T) {
	all := []measured{
		{"Burn-down", "15", report.Table{{"contender", "jobs", "jobs/s", "CPU"}, {"gw", "10", "7", "1"},
			{"River", "10", "2", "3"}}},
		{"Memory", "15", report.Table{{"MB"}, {"20"}}},
		{"Burn-down", "18", report.Table{{"contender", "jobs", "jobs/s", "CPU"}, {"gw", "10", "8", "1"},
			{"River", "10", "2", "4"}}},
	}
	scenarios := byTitle(all)
	if len(scenarios) != 2 {
		t.Fatalf("there are %d scenarios", len(scenarios))
	}
	for i, want := range []report.Table{
		{{"contender", "jobs", "15: jobs/s", "CPU", "18: jobs/s", "CPU"}, {"gw", "10", "7", "1", "8", "1"},
			{"River", "10", "2", "3", "2", "4"}},
		{{"MB"}, {"20"}},
	} {
		if got := markdown(sideBySide(scenarios[i])); got != markdown(want) {
			t.Errorf("the table is\n%swant\n%s", got, markdown(want))
		}
	}
}

func markdown(t report.Table) string {
	var b strings.Builder
	report.New(&b).Table(t)
	return b.String()
}
