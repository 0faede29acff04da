package gwprom

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gwsql/gw/internal/guard"
	"github.com/gwsql/gw/pkg/shim"
)

var (
	depthDesc = prometheus.NewDesc("gw_queue_depth",
		"Jobs in the queue by state: ready, scheduled, running or failed. An estimate if there are too many to count.",
		[]string{"state"}, nil)
	oldestDesc = prometheus.NewDesc("gw_oldest_ready_seconds",
		"How long the oldest ready job has been due, 0 if none is ready.", nil, nil)
	limitRunningDesc = prometheus.NewDesc("gw_limit_running",
		"Jobs of a limit that run, in all of its lanes. Of the first 100 limits by name.", []string{"limit"}, nil)
	limitLanesDesc = prometheus.NewDesc("gw_limit_lanes",
		"Lanes of a limit. Of the first 100 limits by name.", []string{"limit"}, nil)
	limitFullDesc = prometheus.NewDesc("gw_limit_full_lanes",
		"Lanes of a limit in which as many jobs run as may. Of the first 100 limits by name.", []string{"limit"}, nil)
	limitClosedDesc = prometheus.NewDesc("gw_limit_closed_lanes",
		"Lanes of a limit that a worker has closed, because a service accepts no more requests. Of the first 100 limits by name.",
		[]string{"limit"}, nil)
	pausesDesc = prometheus.NewDesc("gw_pauses",
		"Pauses in force, of tasks, queues, limits, lanes or everything.", nil, nil)
	findingsDesc = prometheus.NewDesc("gw_doctor_findings",
		"Problems that doctor finds, by severity and kind. Read every five minutes.", []string{"severity", "finding"},
		nil)
	upDesc = prometheus.NewDesc("gw_queue_up",
		"1 if the database could be queried, so that the other metrics of the queue are present, otherwise 0.", nil,
		nil)
)

// QueueConfig configures a queue collector. Its zero value is valid.
type QueueConfig struct {
	// Timeout is how long a scrape waits for the database, including the wait for a connection of the pool. Default: 5
	// s. Keep it below the timeout of the scrape.
	Timeout time.Duration

	// MaxAge is how long a result is reused for further scrapes, to limit the cost of several or frequent scrapes.
	// Default: 5 s. With a negative MaxAge each scrape queries the database.
	MaxAge time.Duration

	// Logger receives the errors of the database. Default: slog.Default().
	Logger *slog.Logger
}

// QueueCollector counts the jobs in the queue when it is scraped. Create it with [NewQueueCollector].
type QueueCollector struct {
	client *shim.Client
	cfg    QueueConfig

	mu    sync.Mutex // held during a query, so that concurrent scrapes share the result
	last  state
	asked time.Time // when last was read; zero before
}

// findingKind is what the findings that a metric counts have in common.
type findingKind struct{ severity, finding string }

// findingsAge is how long the findings of doctor are reused, which costs more than the other queries.
const findingsAge = 5 * time.Minute

// state is what a scrape reads from the database.
type state struct {
	depth     shim.QueueDepth
	limits    []shim.LimitInfo
	pauses    int
	findings  map[findingKind]int
	examined  time.Time // when doctor was last asked; zero before
	hasLimits bool      // limits and pauses could be read
}

// maxLimits is the maximum number of limits with metrics of their own.
const maxLimits = 100

// NewQueueCollector returns a collector on a client, preferably one on a pool, because scrapes may overlap. The cost of
// a scrape is bounded, see [shim.Client.QueueDepth].
func NewQueueCollector(client *shim.Client, cfg QueueConfig) *QueueCollector {
	if cfg.Timeout <= 0 {
		cfg.Timeout = 5 * time.Second
	}
	cfg.MaxAge = cmp.Or(cfg.MaxAge, 5*time.Second)
	cfg.Logger = guard.Logger(cmp.Or(cfg.Logger, slog.Default()))
	return &QueueCollector{client: client, cfg: cfg}
}

// Describe implements [prometheus.Collector].
func (c *QueueCollector) Describe(descs chan<- *prometheus.Desc) {
	descs <- depthDesc
	descs <- oldestDesc
	descs <- limitRunningDesc
	descs <- limitLanesDesc
	descs <- limitFullDesc
	descs <- limitClosedDesc
	descs <- pausesDesc
	descs <- findingsDesc
	descs <- upDesc
}

// Collect implements [prometheus.Collector]. If the database does not answer, gw_queue_up is 0, the other metrics of
// this collector are missing, and all other metrics of the scrape are unaffected.
func (c *QueueCollector) Collect(metrics chan<- prometheus.Metric) {
	gauge := func(desc *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	now, err := c.state()
	if err != nil {
		c.cfg.Logger.Warn("queue depth could not be read", "error", err)
		gauge(upDesc, 0)
		return
	}
	gauge(upDesc, 1)
	depth := now.depth
	gauge(depthDesc, float64(depth.Ready), "ready")
	gauge(depthDesc, float64(depth.Scheduled), "scheduled")
	gauge(depthDesc, float64(depth.Running), "running")
	gauge(depthDesc, float64(depth.Failed), "failed")
	gauge(oldestDesc, depth.OldestReady.Seconds())
	for kind, n := range now.findings {
		gauge(findingsDesc, float64(n), kind.severity, kind.finding)
	}
	if !now.hasLimits {
		return
	}
	gauge(pausesDesc, float64(now.pauses))
	for _, limit := range now.limits {
		gauge(limitRunningDesc, float64(limit.Running), limit.Name)
		gauge(limitLanesDesc, float64(limit.Lanes), limit.Name)
		gauge(limitFullDesc, float64(limit.FullLanes), limit.Name)
		gauge(limitClosedDesc, float64(limit.ClosedLanes), limit.Name)
	}
}

// state queries the database, unless the last result is recent.
func (c *QueueCollector) state() (state, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.asked.IsZero() && time.Since(c.asked) < c.cfg.MaxAge {
		return c.last, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), c.cfg.Timeout)
	defer cancel()
	asked := time.Now()
	now, err := c.read(ctx)
	if err != nil {
		return state{}, err
	}
	c.last, c.asked = now, asked
	return now, nil
}

func (c *QueueCollector) read(ctx context.Context) (now state, err error) {
	if now.depth, err = c.client.QueueDepth(ctx); err != nil {
		return state{}, err
	}
	now.findings, now.examined = c.last.findings, c.last.examined
	if time.Since(now.examined) >= findingsAge {
		now.findings, now.examined = c.examine(ctx), time.Now()
	}
	limits, err := c.client.Limits(ctx)
	var pauses []shim.PauseInfo
	if err == nil {
		pauses, err = c.client.Pauses(ctx)
	}
	if err != nil {
		if !errors.Is(err, shim.ErrNotGranted) { // as with a schema of an older version
			c.cfg.Logger.Warn("limits could not be read", "error", err)
		}
		return now, nil
	}
	now.limits, now.pauses, now.hasLimits = limits[:min(len(limits), maxLimits)], len(pauses), true
	return now, nil
}

// examine asks doctor. Nil: it could not be asked.
func (c *QueueCollector) examine(ctx context.Context) map[findingKind]int {
	findings, err := c.client.Doctor(ctx)
	if err != nil {
		if !errors.Is(err, shim.ErrNotGranted) {
			c.cfg.Logger.Warn("doctor could not be asked", "error", err)
		}
		return nil
	}
	count := make(map[findingKind]int)
	for _, f := range findings {
		count[findingKind{f.Severity, f.Finding}]++
	}
	return count
}
