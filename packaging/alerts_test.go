package packaging

import (
	"os"
	"regexp"
	"testing"
)

func TestTheAlertsUseMetricsThatExist(t *testing.T) {
	text, err := os.ReadFile("prometheus/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	described, err := os.ReadFile("../docs/observe.md")
	if err != nil {
		t.Fatal(err)
	}
	expressions := regexp.MustCompile(`(?m)^\s+expr: (.+)$`).FindAllSubmatch(text, -1)
	if len(expressions) == 0 {
		t.Fatal("there is no expression")
	}
	for _, e := range expressions {
		metrics := regexp.MustCompile(`gw_[a-z_]+`).FindAllString(string(e[1]), -1)
		if len(metrics) == 0 {
			t.Errorf("%s has no metric", e[1])
		}
		for _, metric := range metrics {
			if !regexp.MustCompile("(?m)^\\| `" + metric + "[`{]").Match(described) {
				t.Errorf("docs/observe.md has no metric %s", metric)
			}
		}
	}
}
