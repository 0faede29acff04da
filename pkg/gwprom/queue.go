package gwprom

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gwsql/gw/pkg/shim"
)

var (
	depthDesc = prometheus.NewDesc("gw_queue_depth",
		"Jobs in the queue by state: ready, scheduled, running or failed. An estimate where there are too many to count.",
		[]string{"state"}, nil)
	oldestDesc = prometheus.NewDesc("gw_oldest_ready_seconds",
		"For how long the longest waiting of the ready jobs is due, 0 if none is.", nil, nil)
	upDesc = prometheus.NewDesc("gw_queue_up",
		"Whether the database said how many jobs there are, so that the other two are there.", nil, nil)
)

// QueueConfig says how a queue collector asks the database. Its zero value is a good start.
type QueueConfig struct {
	// Timeout is how long a scrape waits for the database, a connection of the pool included. Default: 5 s. Keep it below
	// the timeout of the scrape.
	Timeout time.Duration

	// MaxAge is for how long an answer of the database serves further scrapes, so that several servers that scrape, or one
	// in a hurry, cost no more. Default: 5 s. A negative MaxAge asks at each scrape.
	MaxAge time.Duration

	// Logger receives the errors of the database. Default: slog.Default().
	Logger *slog.Logger
}

// QueueCollector counts the jobs in the queue when it is scraped. Make it with [NewQueueCollector].
type QueueCollector struct {
	client *shim.Client
	cfg    QueueConfig

	mu    sync.Mutex // held while the database is asked, so that scrapes at the same time share the answer
	last  shim.QueueDepth
	asked time.Time // when last was asked for; zero before
}

// NewQueueCollector makes a collector on a client, which is best one on a pool, for scrapes may overlap. What a scrape
// costs is bounded, as [shim.Client.QueueDepth] says.
func NewQueueCollector(client *shim.Client, cfg QueueConfig) *QueueCollector {
	if cfg.Timeout <= 0 {
		cfg.Timeout = 5 * time.Second
	}
	if cfg.MaxAge == 0 {
		cfg.MaxAge = 5 * time.Second
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.Default()
	}
	return &QueueCollector{client: client, cfg: cfg}
}

// Describe implements [prometheus.Collector].
func (c *QueueCollector) Describe(descs chan<- *prometheus.Desc) {
	descs <- depthDesc
	descs <- oldestDesc
	descs <- upDesc
}

// Collect implements [prometheus.Collector]. If the database does not answer, gw_queue_up is 0, the others are missing,
// and all other metrics of the scrape are as ever.
func (c *QueueCollector) Collect(metrics chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	depth, err := c.depth()
	if err != nil {
		c.cfg.Logger.Warn("cannot measure the queue", "error", err)
		gauge(upDesc, 0)
		return
	}
	gauge(upDesc, 1)
	gauge(depthDesc, float64(depth.Ready), "ready")
	gauge(depthDesc, float64(depth.Scheduled), "scheduled")
	gauge(depthDesc, float64(depth.Running), "running")
	gauge(depthDesc, float64(depth.Failed), "failed")
	gauge(oldestDesc, depth.OldestReady.Seconds())
}

// depth asks the database, unless its last answer is young.
func (c *QueueCollector) depth() (shim.QueueDepth, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asked.IsZero() && time.Since(c.asked) < c.cfg.MaxAge {
		return c.last, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.cfg.Timeout)
	defer cancel()
	asked := time.Now()
	depth, err := c.client.QueueDepth(ctx)
	if err != nil {
		return shim.QueueDepth{}, err
	}
	c.last, c.asked = depth, asked
	return depth, nil
}
