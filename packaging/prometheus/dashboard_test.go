package prometheus

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	grafana "github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
	"github.com/prometheus/prometheus/promql/promqltest"
)

// notRecorded are series that two workers have only after some have been down, or if doctor finds a problem.
const notRecorded = `
load 7s
  gw_cron_backfilled_jobs_total{instance="a",job="gw",task="tick"} 0 1x40
  gw_doctor_findings{finding="silent worker",instance="a",job="gw",severity="warning"} 1x40
`

func TestEachPanelShowsWhatWorkersExport(t *testing.T) {
	text, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	cog.NewRuntime().RegisterDataqueryVariant(grafana.VariantConfig())
	cog.NewRuntime().RegisterPanelcfgVariant(timeseries.VariantConfig())
	// The strict reader returns an empty list of errors if there are none, and leaves out all queries; the other one has them.
	if problems := new(dashboard.Dashboard).UnmarshalJSONStrict(text); problems.Error() != "" {
		t.Fatalf("Grafana does not take it: %v", problems)
	}
	var board dashboard.Dashboard
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	recorded, err := os.ReadFile("testdata/recorded.txt")
	if err != nil {
		t.Fatal(err)
	}
	samples := promqltest.LoadedStorage(t, string(recorded)+notRecorded)
	variables := strings.NewReplacer("$__rate_interval", "1m", "$job", ".+", "$task", ".+")
	ids := make(map[uint32]bool)
	expressions := 0
	for _, p := range board.Panels {
		if p.Panel == nil {
			continue // a row
		}
		if ids[*p.Panel.Id] {
			t.Errorf("%s has the number of another panel", *p.Panel.Title)
		}
		ids[*p.Panel.Id] = true
		for _, target := range p.Panel.Targets {
			in, ok := target.(*grafana.Dataquery)
			if !ok || in.LegendFormat == nil {
				t.Fatalf("%s: a target is %T, not a query of Prometheus with a legend", *p.Panel.Title, target)
			}
			expressions++
			expression := variables.Replace(in.Expr)
			if strings.Contains(expression, "$") {
				t.Errorf("%s has another variable", in.Expr)
			}
			found := query(t, samples, expression, 5*time.Minute, 7*time.Second)
			if len(found) == 0 {
				t.Errorf("%s: %s finds nothing", *p.Panel.Title, in.Expr)
			}
			for _, label := range regexp.MustCompile(`\{\{(\w+)\}\}`).FindAllStringSubmatch(*in.LegendFormat, -1) {
				if len(found) > 0 && !found[0].Metric.Has(label[1]) {
					t.Errorf("%s: %s has no label %s", *p.Panel.Title, in.Expr, label[1])
				}
			}
		}
	}
	if expressions < 20 {
		t.Errorf("there are only %d expressions", expressions)
	}
}
