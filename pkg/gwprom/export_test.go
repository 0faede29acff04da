package gwprom

import "github.com/gwsql/gw/pkg/shim"

// See counts events as those of one worker.
func See(m *Metrics, events ...shim.Event) {
	w := &watch{metrics: m, running: make(map[*shim.Job]struct{})}
	for _, event := range events {
		w.see(event)
	}
}
