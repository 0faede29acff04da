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

// limits of the tests, as setLimits makes them, by the names that lanes begin with.
var most = map[string]int{"narrow": 1, "wide": 5, "tenant": 2, "tenants": 4, "paid": 3, "queue": 2, "serial": 1}

var setLimits = []string{
	"select graphile_worker.set_limit('narrow', tasks => '{narrow}', max_running => 1)",
	"select graphile_worker.set_limit('wide', tasks => '{wide}', max_running => 5)",
	"select graphile_worker.set_limit('tenant', tasks => '{tenant,paid}', by => 'payload:tenant', max_running => 2, total_running => 4, fair => true)",
	"select graphile_worker.set_limit('paid', tasks => '{paid}', max_running => 3)",
	"select graphile_worker.set_limit('queue', queues => 'q:*', by => 'queue', max_running => 2)",
}

func limitOf(lane string) string {
	name, _, _ := strings.Cut(lane, " ")
	return name
}

// lanes returns the lanes that a job counts for, each beginning with the name of its limit.
func (j job) lanes() []string {
	if j.isSerial() {
		return []string{"serial " + *j.queue}
	} else if j.queue != nil {
		return []string{"queue " + *j.queue}
	}
	switch j.task {
	case "narrow", "wide":
		return []string{j.task}
	case "tenant":
		return []string{"tenant " + j.payload, "tenants"}
	case "paid":
		return []string{"tenant " + j.payload, "tenants", "paid"}
	default:
		return nil
	}
}

// isSerial returns whether a job is in a queue that no limit applies to, so that its row in the table of queues is locked
// while the job runs.
func (j job) isSerial() bool {
	return j.queue != nil && !strings.HasPrefix(*j.queue, "q:")
}
