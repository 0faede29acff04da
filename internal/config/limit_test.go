package config_test

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/pkg/shim"
)

func TestLimitsAreReadInTheirOrder(t *testing.T) {
	file, err := config.Parse("gw.yaml", `
limits:
  exports: {tasks: [export, report], by: "payload:tenant", max_running: 3, total_running: 20, strict: 10m}
  api:
    tasks: call
    rate: 100
    per: 1m
    burst: 10
  imports: {by: "flag:source", max_running: 2}
`, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	want := []shim.Limit{
		{Name: "exports", Tasks: []string{"export", "report"}, By: "payload:tenant", MaxRunning: 3, TotalRunning: 20,
			Strict: 10 * time.Minute},
		{Name: "api", Tasks: []string{"call"}, Rate: 100, Per: time.Minute, Burst: 10},
		{Name: "imports", By: "flag:source", MaxRunning: 2},
	}
	var got []shim.Limit
	for _, limit := range file.Limits {
		if limit.Position.Line == 0 {
			t.Errorf("limit %s has no position", limit.Name)
		}
		got = append(got, limit.Limit)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("limits are %+v, want %+v", got, want)
	}
}

func TestMistakesInALimitHaveTheirLine(t *testing.T) {
	for limit, want := range map[string]string{
		`{}`:                                 "gw.yaml:2:3: the limit a limits nothing; set max_running, total_running, rate or fair",
		`{fair: true}`:                       "gw.yaml:2:3: the limit a has fair without by, so it has no lanes that could take turns",
		`{rate: 3}`:                          "gw.yaml:2:3: the limit a has only one of rate and per",
		`{per: 3s, max_running: 1}`:          "gw.yaml:2:3: the limit a has only one of rate and per",
		`{burst: 3, max_running: 1}`:         "gw.yaml:2:3: the limit a has burst without rate",
		`{by: queue, max_running: 1}`:        "gw.yaml:2:11: there is no by: queue any more; write by: payload:FIELD",
		`{queues: "a-*", max_running: 1}`:    "gw.yaml:2:7: a limit has no queues any more;",
		`{by: tenant, max_running: 1}`:       `gw.yaml:2:11: by takes flag:NAME or payload:FIELD, not "tenant"`,
		`{by: "flag:", max_running: 1}`:      `gw.yaml:2:11: by takes flag:NAME or payload:FIELD, not "flag:"`,
		`{max_running: 0}`:                   "gw.yaml:2:20: max_running is 0, must be at least 1",
		`{max_runing: 1}`:                    "gw.yaml:2:7: there is no key max_runing in a limit; is max_running meant?",
		`{rate: 1, per: 1s, strict: 1m}`:     "gw.yaml:2:3: the limit a has strict without max_running and total_running",
		`{max_running: 1, total_running: 1}`: "gw.yaml:2:3: the limit a has one lane",
		`{rate: 3, per: 3}`:                  `per takes a time with a unit`,
		`3`:                                  "limit a takes keys with values",
		`{tasks: [], max_running: 1}`:        "tasks is an empty list",
	} {
		_, err := config.Parse("gw.yaml", "limits:\n  a: "+limit, os.Getenv)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", limit, err, want)
		}
	}
}
