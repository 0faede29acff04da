package limits

import (
	"strings"
)

// job is a claimed job.
type job struct {
	id      int64
	task    string
	payload string
	queue   *string
	lease   int64
	streak  *streak
}

// streak is what a claim has of jobs of which only some run at once.
type streak struct {
	running, width int
	rest           []job
}

// conditions are those of a run.
type conditions struct {
	raw bool // workers also delete rows by hand, so that only a heartbeat finds the free slots
	// Each group of jobs has a lane of its own, and there are neither streaks nor pauses, so that claims go the short way.
	lone bool
}

// most returns the limits, as setLimits makes them, by the names that lanes begin with.
func (c conditions) most() map[string]int {
	if c.lone {
		return map[string]int{"narrow": 1, "wide": 5, "tenant": 2, "paid": 3, "serial": 1}
	}
	return map[string]int{"narrow": 1, "wide": 5, "tenant": 2, "tenants": 4, "paid": 3, "queue": 2, "serial": 1}
}

const setWide = "select graphile_worker.set_limit('wide', tasks => '{wide}', max_running => 5)"

func (c conditions) setLimits() []string {
	if c.lone {
		return []string{
			"select graphile_worker.set_limit('narrow', tasks => '{narrow}', max_running => 1)",
			setWide,
			"select graphile_worker.set_limit('tenant', tasks => '{tenant}', by => 'payload:tenant', max_running => 2)",
			"select graphile_worker.set_limit('paid', tasks => '{paid}', total_running => 3)",
		}
	}
	return []string{
		"select graphile_worker.set_limit('narrow', tasks => '{narrow}', max_running => 1)",
		setWide,
		"select graphile_worker.set_limit('tenant', tasks => '{tenant,paid}', by => 'payload:tenant', max_running => 2, total_running => 4, fair => true)",
		"select graphile_worker.set_limit('paid', tasks => '{paid}', max_running => 3)",
		"select graphile_worker.set_limit('queue', queues => 'q:*', by => 'queue', max_running => 2)",
	}
}

func limitOf(lane string) string {
	name, _, _ := strings.Cut(lane, " ")
	return name
}

// lanes returns the lanes that a job counts for, each beginning with the name of its limit.
func (c conditions) lanes(j job) []string {
	if c.isSerial(j) {
		return []string{"serial " + *j.queue}
	} else if j.queue != nil {
		return []string{"queue " + *j.queue}
	}
	switch {
	case j.task == "narrow" || j.task == "wide" || j.task == "paid" && c.lone:
		return []string{j.task}
	case j.task == "tenant" && c.lone:
		return []string{"tenant " + j.payload}
	case j.task == "tenant":
		return []string{"tenant " + j.payload, "tenants"}
	case j.task == "paid":
		return []string{"tenant " + j.payload, "tenants", "paid"}
	default:
		return nil
	}
}

// isSerial returns whether a job is in a queue that no limit applies to, so that its row in the table of queues is locked
// while the job runs.
func (c conditions) isSerial(j job) bool {
	return j.queue != nil && (c.lone || !strings.HasPrefix(*j.queue, "q:"))
}
