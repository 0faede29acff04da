package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/report"
)

func TestTheReportShowsTheChartsTheSummaryAndTheTables(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "img"), 0o700); err != nil {
		t.Fatal(err)
	}
	var o outcome
	for _, file := range []string{"chart.svg", "other.svg", "chart.svg"} {
		o.bar(file, "Jobs a second", bar{group: "PostgreSQL 15", name: "gw", value: 1})
	}
	o.reach("15", "burn-down", "1.00", "at least 1", "yes")
	o.tables = []measured{{"Memory", "15", report.Table{{"MB"}, {"20"}}}}
	var text strings.Builder
	img := filepath.Join(dir, "img")
	err := o.close(report.New(&text), harness.Options{Report: filepath.Join(dir, "report.md")}, img)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"](img/chart.svg)", "](img/other.svg)", "|burn-down|at least 1|1.00|",
		"## Memory\n\n|MB|\n|---|\n|20|"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("%q is not in the report:\n%s", want, text.String())
		}
	}
	for file, bars := range map[string]int{"chart.svg": 2, "other.svg": 1} {
		svg, err := os.ReadFile(filepath.Join(img, file))
		if err != nil || !strings.HasPrefix(string(svg), "<svg ") || strings.Count(string(svg), "<rect") != bars {
			t.Errorf("%s is %.20s with another number of bars than %d: %v", file, svg, bars, err)
		}
	}
}

func TestPeersCanBeLeftOut(t *testing.T) {
	all := []contender{ours, reference1, nodeBest, riverBest}
	for _, c := range []struct {
		node, river bool
		want        int
	}{{true, true, 4}, {false, true, 3}, {true, false, 3}, {false, false, 2}} {
		b := &bench{Bench: &harness.Bench{Options: harness.Options{Node: c.node}}, river: c.river}
		if got := len(b.among(all...)); got != c.want {
			t.Errorf("with Node %v and River %v there are %d contenders, want %d", c.node, c.river, got, c.want)
		}
	}
}

func TestTheBestOfAFamilyCounts(t *testing.T) {
	found := results{}
	for name, speeds := range map[string][]float64{
		reference1.name: {10, 30, 20}, reference2.name: {25, 21, 22}, ours.name: {100, 100, 100},
	} {
		for _, speed := range speeds {
			found.add(name, burned{speed: speed})
		}
	}
	all := []contender{ours, reference1, reference2}
	if name, speed := found.best(&referenceFamily, all); name != reference2.name || speed.Median() != 22 {
		t.Errorf("the best is %s with %v", name, speed)
	}
	if name, speed := found.best(&nodeFamily, all); speed != nil {
		t.Errorf("the best of none is %s with %v", name, speed)
	}
}
