//go:build ha

package ha

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// load is the producers and workers of the cluster, each by one of the ways to reach it.
type load struct {
	producers []*producer
	workers   []*worker
}

func newLoad(t *testing.T, c *cluster) *load {
	t.Helper()
	l := &load{
		workers: []*worker{
			startWorker(t, c, "multi1", c.multi()), startWorker(t, c, "multi2", c.multi()),
			startWorker(t, c, "haproxy1", c.proxied()), startWorker(t, c, "haproxy2", c.proxied()),
		},
		producers: []*producer{startProducer(t, "multi", c.multi(), 1), startProducer(t, "haproxy", c.proxied(), 2)},
	}
	l.awaitFlow(t)
	return l
}

// awaitFlow waits until every producer has added jobs from now on, and every worker has run some.
func (l *load) awaitFlow(t *testing.T) {
	t.Helper()
	const enough = 10
	start := time.Now()
	progress := func() (lines []string, isEnough bool) {
		isEnough = true
		note := func(name string, n int) {
			lines = append(lines, fmt.Sprintf("%s: %d", name, n))
			isEnough = isEnough && n >= enough
		}
		for _, p := range l.producers {
			note("producer "+p.name, len(p.since(start)))
		}
		for _, w := range l.workers {
			note("worker "+w.name, len(w.since(t, start)))
		}
		return lines, isEnough
	}
	waitUntil(t, "jobs are added and run everywhere", func() bool {
		_, isEnough := progress()
		return isEnough
	}, func() string {
		lines, _ := progress()
		return strings.Join(lines, "\n")
	})
}

// report logs the longest time, since the event began, that each producer and each worker was cut off.
func (l *load) report(t *testing.T, event string, began time.Time) {
	t.Helper()
	began = began.Add(-time.Second) // a gap begins before the event
	line := event + ": longest gap in seconds: producers"
	for _, p := range l.producers {
		line += fmt.Sprintf(" %s %.1f", p.name, gap(p.since(began)).Seconds())
	}
	line += ", workers"
	for _, w := range l.workers {
		line += fmt.Sprintf(" %s %.1f", w.name, gap(w.since(t, began)).Seconds())
	}
	t.Log(line)
}

// finish stops the producers, waits until all jobs have run, and checks them.
func (l *load) finish(t *testing.T, c *cluster) {
	t.Helper()
	for _, p := range l.producers {
		p.stop()
	}
	c.leader(t).await(t, "select count(*) = 0 from graphile_worker.jobs")
	account(t, l.producers, l.workers)
}
