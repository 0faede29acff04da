package serve

import (
	"context"
	"fmt"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gwsql/gw/internal/health"
	"github.com/gwsql/gw/pkg/shim"
)

// shardMonitor follows the workers of one shard, one after the other.
type shardMonitor struct {
	isHome  bool
	listens bool

	mu      sync.Mutex
	monitor *health.Monitor
}

func newShardMonitor(isHome, pollOnly bool) *shardMonitor {
	listens := isHome && !pollOnly
	return &shardMonitor{isHome: isHome, listens: listens, monitor: health.NewMonitor(listens)}
}

func (s *shardMonitor) watch(worker *shim.Worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.monitor = health.NewMonitor(s.listens)
	s.monitor.Watch(worker)
}

func (s *shardMonitor) current() *health.Monitor {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.monitor
}

// Stuck returns which loops of which worker are stuck.
func (f *fleet) Stuck() (reasons []string) {
	for _, m := range f.members {
		for _, reason := range m.monitor.current().Stuck() {
			reasons = append(reasons, fmt.Sprintf("shard %s: %s", m.shard.Name, reason))
		}
	}
	return reasons
}

// Unready returns why the worker at home cannot work now: other shards do not count.
func (f *fleet) Unready() (reasons []string) {
	for _, m := range f.members {
		if !m.monitor.isHome {
			continue
		}
		for _, reason := range m.monitor.current().Unready() {
			reasons = append(reasons, fmt.Sprintf("home shard %s: %s", m.shard.Name, reason))
		}
	}
	return reasons
}

func (f *fleet) pingHome(ctx context.Context) error {
	for _, m := range f.members {
		if m.shard.Name == f.home {
			return m.pool.Ping(ctx)
		}
	}
	return nil
}

// gathered is the metrics of a registry as a collector whose metrics are not known in advance.
type gathered struct{ from *prometheus.Registry }

func (g gathered) Describe(descs chan<- *prometheus.Desc) { g.from.Describe(descs) }

func (g gathered) Collect(metrics chan<- prometheus.Metric) { g.from.Collect(metrics) }
