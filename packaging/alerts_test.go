package packaging

import (
	"os"
	"regexp"
	"testing"
)

func TestTheAlertsAndTheDashboardUseMetricsThatExist(t *testing.T) {
	described, err := os.ReadFile("../docs/observe.md")
	if err != nil {
		t.Fatal(err)
	}
	for path, expression := range map[string]string{
		"prometheus/alerts.yaml": `(?m)^\s+expr: (.+)$`, "prometheus/dashboard.json": `"expr": "(.+)", "legend`,
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		expressions := regexp.MustCompile(expression).FindAllSubmatch(text, -1)
		if len(expressions) < 10 {
			t.Fatalf("%s has only %d expressions", path, len(expressions))
		}
		for _, e := range expressions {
			metrics := regexp.MustCompile(`gw_[a-z_]+`).FindAllString(string(e[1]), -1)
			if len(metrics) == 0 {
				t.Errorf("%s has no metric", e[1])
			}
			for _, metric := range metrics {
				metric = regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(metric, "") // of a histogram
				if !regexp.MustCompile("`" + metric + "[`{]").Match(described) {
					t.Errorf("docs/observe.md has no metric %s", metric)
				}
			}
		}
	}
}
