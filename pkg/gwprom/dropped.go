package gwprom

import (
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gwsql/gw/pkg/shim"
)

var droppedDesc = prometheus.NewDesc("gw_events_dropped_total",
	"Events of workers that were dropped because they came too fast; the other metrics do not include them.", nil, nil)

// droppedCollector counts the events that the metrics did not receive.
type droppedCollector struct {
	mu     sync.Mutex
	hooks  []*shim.Hook
	before int64 // of removed hooks
}

func (c *droppedCollector) add(h *shim.Hook) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hooks = append(c.hooks, h)
}

func (c *droppedCollector) remove(h *shim.Hook) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.before += h.Dropped()
	c.hooks = slices.DeleteFunc(c.hooks, func(other *shim.Hook) bool { return other == h })
}

// Describe implements [prometheus.Collector].
func (c *droppedCollector) Describe(descs chan<- *prometheus.Desc) { descs <- droppedDesc }

// Collect implements [prometheus.Collector].
func (c *droppedCollector) Collect(metrics chan<- prometheus.Metric) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.before
	for _, h := range c.hooks {
		n += h.Dropped()
	}
	metrics <- prometheus.MustNewConstMetric(droppedDesc, prometheus.CounterValue, float64(n))
}
