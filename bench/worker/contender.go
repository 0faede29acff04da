package main

// A contender is a family with settings.
type contender struct {
	name        string
	family      *family
	processes   int
	concurrency int
	settings    map[string]any

	// share is the fraction of the jobs that a slow contender gets, so that its turn ends. 0 is all jobs.
	share float64
}

// concurrency is the concurrency of all contenders that have such a setting and no better value of their own.
const concurrency = 24

var ours = contender{name: "gw", family: &oursFamily, processes: 1, concurrency: concurrency}

// oursOneByOne claims one job of a named queue at a time.
var oursOneByOne = contender{name: "gw, one job of a queue at a time", family: &oursFamily, processes: 1,
	concurrency: concurrency,
	settings:    map[string]any{"queueBatch": 1}}

// The reference uses one connection or two; the better result counts.
var (
	reference1 = contender{name: "hand-written SQL, 1 connection", family: &referenceFamily, processes: 1,
		concurrency: 1}
	reference2 = contender{name: "hand-written SQL, 2 connections", family: &referenceFamily, processes: 1,
		concurrency: 2}
)

var (
	nodeDefaults = contender{name: "graphile-worker, defaults", family: &nodeFamily, processes: 1,
		concurrency: concurrency,
		share:       0.2}
	nodeBest = contender{name: "graphile-worker, local queue", family: &nodeFamily, processes: 1,
		concurrency: concurrency,
		settings:    nodeBestSettings}
	nodeBest2 = contender{name: "graphile-worker, local queue, 2 processes", family: &nodeFamily, processes: 2,
		concurrency: concurrency, settings: nodeBestSettings}

	nodeBestSettings = map[string]any{
		"localQueue":            map[string]any{"size": 500, "refetchDelay": map[string]any{"durationMs": 10}},
		"completeJobBatchDelay": 0,
		"failJobBatchDelay":     0,
	}
)

// River has no default for the number of workers; a hundred is the first value in its documentation. The other settings
// are those of its own benchmark.
var (
	riverDefaults = contender{name: "River, defaults", family: &riverFamily, processes: 1, concurrency: 100,
		share: 0.05}
	riverBest = contender{name: "River, its benchmark's settings", family: &riverFamily, processes: 1,
		concurrency: 2000,
		settings:    map[string]any{"fetchCooldownMillis": 2, "fetchPollIntervalMillis": 20}}
)

// times returns the contender with so many processes.
func (c contender) times(processes int) contender {
	c.processes = processes
	return c
}

// jobs returns the number of jobs that the contender gets of n.
func (c contender) jobs(n int) int {
	if c.share == 0 {
		return n
	}
	return max(int(float64(n)*c.share), 1)
}
