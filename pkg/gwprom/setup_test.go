package gwprom_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/gwprom"
	"github.com/gwsql/gw/pkg/shim"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func newMetrics(t *testing.T) (*gwprom.Metrics, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	metrics, err := gwprom.New(registry)
	if err != nil {
		t.Fatal(err)
	}
	return metrics, registry
}

func newWorker(t *testing.T, url string, cfg shim.Config) *shim.Worker {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	w, err := shim.New(pgtest.Pool(t, url), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// read returns the value of the metric of that name with these label values, as name=value; of a histogram how often it
// was observed. It is 0 if there is none.
func read(t *testing.T, from prometheus.Gatherer, name string, labels ...string) float64 {
	t.Helper()
	metric := find(t, from, name, labels)
	switch {
	case metric == nil:
		return 0
	case metric.GetHistogram() != nil:
		return float64(metric.GetHistogram().GetSampleCount())
	case metric.GetCounter() != nil:
		return metric.GetCounter().GetValue()
	}
	return metric.GetGauge().GetValue()
}

func find(t *testing.T, from prometheus.Gatherer, name string, labels []string) *dto.Metric {
	t.Helper()
	families, err := from.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			var pairs []string
			for _, label := range metric.GetLabel() {
				pairs = append(pairs, label.GetName()+"="+label.GetValue())
			}
			if family.GetName() == name && strings.Join(pairs, " ") == strings.Join(labels, " ") {
				return metric
			}
		}
	}
	return nil
}

// await waits until a metric has a value: events come when they come.
func await(t *testing.T, want float64, from prometheus.Gatherer, name string, labels ...string) {
	t.Helper()
	deadline := time.After(time.Minute)
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for read(t, from, name, labels...) != want {
		select {
		case <-again.C:
		case <-deadline:
			t.Fatalf("%s%q is %v, want %v", name, labels, read(t, from, name, labels...), want)
		}
	}
}
