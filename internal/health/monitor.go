package health

import (
	"fmt"
	"sync"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// stuckAfter is how long a loop may be silent before it counts as stuck. A worker sweeps about once a minute, and no
// call of the database takes longer than half a minute.
const stuckAfter = 5 * time.Minute

// A Monitor follows the events of one worker. Make it with [NewMonitor].
type Monitor struct {
	listens bool
	now     func() time.Time

	mu        sync.Mutex
	phase     phase
	claimed   bool      // the last claim succeeded
	listening bool      // over an open connection
	claiming  time.Time // when the running claim began; zero without one
	swept     time.Time // when the last sweep began or ended
	claimErr  error     // of the last claim
	listenErr error     // of the last attempt to listen
}

// A phase is the phase of a worker's life.
type phase int

const (
	starting phase = iota // it checks the schema
	running
	stopping // it waits for running jobs
)

// NewMonitor returns a monitor of a worker that is going to start. listens is whether it has a listening connection.
func NewMonitor(listens bool) *Monitor {
	return &Monitor{listens: listens, now: time.Now}
}

// Watch makes the monitor follow a worker. Call it before the worker runs.
func (m *Monitor) Watch(worker *shim.Worker) { shim.On(worker, m.see) }

func (m *Monitor) see(event shim.Event) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch e := event.(type) {
	case shim.WorkerStarted:
		m.phase, m.swept = running, m.now()
	case shim.ShutdownStarted:
		m.phase = stopping
	case shim.ListenConnected:
		m.listening, m.listenErr = true, nil
	case shim.ListenFailed:
		m.listening, m.listenErr = false, e.Err
	case shim.ClaimStarted:
		m.claiming = m.now()
	case shim.ClaimSucceeded, shim.ClaimEmpty:
		m.claimed, m.claiming, m.claimErr = true, time.Time{}, nil
	case shim.ClaimFailed:
		m.claimed, m.claiming, m.claimErr = false, time.Time{}, e.Err
	case shim.SweepStarted, shim.SweepSucceeded, shim.SweepFailed:
		m.swept = m.now()
	}
}

// Stuck returns which loops are stuck; none if the worker is alive.
func (m *Monitor) Stuck() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.phase != running {
		return nil // a slow start fails by itself, and the grace time ends a stop
	}
	var stuck []string
	if !m.claiming.IsZero() && m.now().Sub(m.claiming) > stuckAfter {
		stuck = append(stuck, fmt.Sprintf("a claim has not ended for %s", stuckAfter))
	}
	if m.now().Sub(m.swept) > stuckAfter {
		stuck = append(stuck, fmt.Sprintf("the worker has not looked for stale locks for %s", stuckAfter))
	}
	return stuck
}

// Unready returns why the worker cannot work now; nothing if it can.
func (m *Monitor) Unready() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch m.phase {
	case starting:
		return []string{"the worker is starting"}
	case stopping:
		return []string{"the worker is stopping"}
	}
	var reasons []string
	if !m.claimed {
		reasons = append(reasons, because("no claim has succeeded yet", "claims fail", m.claimErr))
	}
	if m.listens && !m.listening {
		reasons = append(reasons, because("not listening yet", "listening connection failed", m.listenErr))
	}
	return reasons
}

func because(yet, failed string, err error) string {
	if err == nil {
		return yet
	}
	return fmt.Sprintf("%s: %v", failed, err)
}
