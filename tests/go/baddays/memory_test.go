package baddays

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// memory samples the resident memory of workers.
type memory struct {
	f       *fleet
	workers []*worker
	samples [][]int // of each worker, in kB
	noted   []int64 // the size of the notes at each sample, which shows the progress
	stop    func()
}

// watchMemory samples until it is stopped.
func (f *fleet) watchMemory(workers []*worker) *memory {
	f.t.Helper()
	m := &memory{f: f, workers: workers, samples: make([][]int, len(workers))}
	over := make(chan struct{})
	var sampling sync.WaitGroup
	m.stop = sync.OnceFunc(func() {
		close(over)
		sampling.Wait()
	})
	f.t.Cleanup(m.stop)
	sampling.Go(func() {
		again := time.NewTicker(200 * time.Millisecond)
		defer again.Stop()
		for {
			select {
			case <-over:
				return
			case <-again.C:
			}
			m.noted = append(m.noted, f.noted())
			for i, w := range workers {
				m.samples[i] = append(m.samples[i], w.resident())
			}
		}
	})
	return m
}

// judge compares the memory peaks in the second and the last third of the work: without a leak they are the same.
func (m *memory) judge(jobs int) {
	m.f.t.Helper()
	if len(m.noted) < 30 {
		m.f.t.Fatalf("%d jobs were done within %d samples of their memory", jobs, len(m.noted))
	}
	all := m.noted[len(m.noted)-1]
	for i, w := range m.workers {
		var peaks [3]int
		for at, kB := range m.samples[i] {
			third := min(2, m.noted[at]*3/max(1, all))
			peaks[third] = max(peaks[third], kB)
		}
		m.f.t.Logf("%s: at most %d, %d and %d MB in the thirds of the work", w.id, peaks[0]>>10, peaks[1]>>10,
			peaks[2]>>10)
		if peaks[1] == 0 {
			m.f.t.Skip("there is no /proc to read a process's memory from")
		}
		if peaks[2]*10 > peaks[1]*12 {
			m.f.t.Errorf("%s: its memory has grown from %d to %d kB", w.id, peaks[1], peaks[2])
		}
	}
}

var residentLine = regexp.MustCompile(`VmRSS:\s+(\d+)`)

// resident returns the resident memory of the process in kB, 0 if it is not known.
func (w *worker) resident() int {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", w.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	found := residentLine.FindSubmatch(status)
	if found == nil {
		return 0
	}
	kB, err := strconv.Atoi(string(found[1]))
	if err != nil {
		return 0
	}
	return kB
}
