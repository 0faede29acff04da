package health

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gwsql/gw/pkg/shim"
)

// watched returns a monitor that has seen events, and its clock, to be set forward.
func watched(listens bool, events ...shim.Event) (*Monitor, func(time.Duration)) {
	m := NewMonitor(listens)
	now := time.Now()
	m.now = func() time.Time { return now }
	for _, event := range events {
		m.see(event)
	}
	return m, func(d time.Duration) { now = now.Add(d) }
}

func TestAWorkerIsReadyWhileItClaimsAndListens(t *testing.T) {
	broken := errors.New("broken")
	started, claimed, listening := shim.WorkerStarted{}, shim.ClaimEmpty{}, shim.ListenConnected{}
	for name, c := range map[string]struct {
		listens bool
		events  []shim.Event
		want    []string
	}{
		"before it starts": {true, nil, []string{"the worker is starting"}},
		"before its first turn": {true, []shim.Event{started}, []string{"no claim has succeeded yet",
			"not listening yet"}},
		"listening": {true, []shim.Event{started, listening, claimed}, nil},
		"with jobs": {true, []shim.Event{started, listening, shim.ClaimSucceeded{}, shim.ClaimStarted{}},
			nil},
		"polling": {false, []shim.Event{started, claimed}, nil},
		"claims fail": {false, []shim.Event{started, claimed, shim.ClaimFailed{Err: broken}},
			[]string{"claims fail: broken"}},
		"not listening": {true, []shim.Event{started, listening, claimed, shim.ListenFailed{Err: broken}},
			[]string{"listening connection failed: broken"}},
		"back again": {true, []shim.Event{
			started, shim.ListenFailed{Err: broken}, shim.ClaimFailed{Err: broken}, listening, claimed,
		}, nil},
		"stopping": {true, []shim.Event{started, listening, claimed, shim.ShutdownStarted{}},
			[]string{"the worker is stopping"}},
	} {
		m, _ := watched(c.listens, c.events...)
		if got := m.Unready(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestAWorkerIsStuckWhenALoopDoesNotTurn(t *testing.T) {
	started := shim.WorkerStarted{}
	for name, c := range map[string]struct {
		events []shim.Event
		later  []shim.Event // after long
		want   string
	}{
		"a claim": {[]shim.Event{started, shim.ClaimStarted{}}, []shim.Event{shim.SweepFailed{}},
			"a claim has not ended"},
		"no claim": {[]shim.Event{started, shim.ClaimStarted{}, shim.ClaimEmpty{}},
			[]shim.Event{shim.SweepFailed{}}, ""},
		"claims that fail": {[]shim.Event{started, shim.ClaimStarted{}, shim.ClaimFailed{}},
			[]shim.Event{shim.SweepFailed{}}, ""},
		"sweeps":                   {[]shim.Event{started, shim.SweepSucceeded{}}, nil, "stale locks"},
		"before it starts":         {nil, nil, ""},
		"while it waits for a job": {[]shim.Event{started, shim.ShutdownStarted{}}, nil, ""},
	} {
		m, sleep := watched(true, c.events...)
		if got := m.Stuck(); got != nil {
			t.Errorf("%s, at once: %q", name, got)
		}
		sleep(stuckAfter + time.Second)
		for _, event := range c.later {
			m.see(event)
		}
		if got := strings.Join(m.Stuck(), "; "); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s, after long: %q, want %q", name, got, c.want)
		}
	}
}
