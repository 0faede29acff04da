package gwprom

import (
	"fmt"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gwsql/gw/pkg/shim"
)

// Metrics are the metrics of the watched workers. Create them with [New].
type Metrics struct {
	jobs           *prometheus.CounterVec
	duration       *prometheus.HistogramVec
	latency        *prometheus.HistogramVec
	running        *prometheus.GaugeVec
	fetchDuration  prometheus.Histogram
	fetchErrors    prometheus.Counter
	listening      prometheus.Gauge
	reconnects     prometheus.Counter
	freed          prometheus.Counter
	cronJobs       *prometheus.CounterVec
	cronBackfilled *prometheus.CounterVec
	cronErrors     prometheus.Counter
	workersRunning prometheus.Gauge
	workerFailures prometheus.Counter
	dropped        *droppedCollector
}

// New creates the metrics and registers them. It returns the error of the registerer, for example if metrics of these
// names exist; then none is registered. One Metrics suffices for all workers of a process.
func New(registerer prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		jobs:     counterOf("gw_jobs_total", "Claims of jobs that ended, by outcome.", "task", "outcome"),
		duration: durationsOf("gw_job_duration_seconds", "Durations of handlers.", "task"),
		latency: durationsOf("gw_job_latency_seconds",
			"Waiting times of jobs from their due time until their claim, by the clock of the database.", "task"),
		running:     gaugeOf("gw_jobs_running", "Running handlers.", "task"),
		fetchErrors: counter("gw_fetch_errors_total", "Failed claims."),
		listening:   gauge("gw_listeners_connected", "Workers with an open listening connection."),
		reconnects: counter("gw_listener_reconnects_total",
			"Listening connections opened after one was lost or could not be opened."),
		freed: counter("gw_stale_jobs_freed_total",
			"Jobs with stale locks that sweeps of these workers have freed."),
		cronJobs: counterOf("gw_cron_jobs_total", "Jobs added by ticks of cron, without backfilled ones.",
			"task"),
		cronBackfilled: counterOf("gw_cron_backfilled_jobs_total", "Jobs that cron has backfilled for missed ticks.",
			"task"),
		cronErrors:     counter("gw_cron_errors_total", "Failed ticks of cron, which were tried again."),
		workersRunning: gauge("gw_workers_running", "Running workers."),
		workerFailures: counter("gw_worker_failures_total", "Workers that stopped because of an error."),
		dropped:        &droppedCollector{},
		fetchDuration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "gw_fetch_duration_seconds",
			Help:    "Durations of claims, including those that found nothing or failed.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .5, 1, 5, 30},
		}),
	}
	if err := m.register(registerer); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	return m, nil
}

func counter(name, help string) prometheus.Counter {
	return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
}

func counterOf(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func gauge(name, help string) prometheus.Gauge {
	return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
}

func gaugeOf(name, help string, labels ...string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

// durationsOf returns a histogram of durations up to those of long jobs.
func durationsOf(name, help string, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name:    name,
		Help:    help,
		Buckets: []float64{.001, .005, .01, .05, .1, .5, 1, 5, 10, 30, 60, 300, 1800, 7200},
	}, labels)
}

func (m *Metrics) collectors() []prometheus.Collector {
	return []prometheus.Collector{
		m.jobs, m.duration, m.latency, m.running, m.fetchDuration, m.fetchErrors, m.listening, m.reconnects, m.freed,
		m.cronJobs, m.cronBackfilled, m.cronErrors, m.workersRunning, m.workerFailures, m.dropped,
	}
}

func (m *Metrics) register(registerer prometheus.Registerer) error {
	for i, c := range m.collectors() {
		if err := registerer.Register(c); err != nil {
			for _, registered := range m.collectors()[:i] {
				registerer.Unregister(registered)
			}
			return err
		}
	}
	return nil
}

// Watch counts the events of a worker until stop is called. Call it before the worker runs.
func (m *Metrics) Watch(w *shim.Worker) (stop func()) {
	watch := &watch{metrics: m, running: make(map[*shim.Job]struct{})}
	hook := shim.On(w, watch.see)
	m.dropped.add(hook)
	return sync.OnceFunc(func() {
		hook.Close()
		m.dropped.remove(hook)
	})
}

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
