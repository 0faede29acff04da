package limits

import "strings"

// job is a claimed job.
type job struct {
	id      int64
	task    string
	payload string
	queue   *string
	lease   int64
	streak  *streak
}

// streak is what a claim has of a named queue: jobs that run one after the other.
type streak struct {
	runs bool
	rest []job
}

// conditions are those of a run.
type conditions struct {
	raw bool // workers also delete rows by hand, so that only a heartbeat finds the free slots
}

// most are the limits, as setLimits makes them, by the names that lanes begin with.
var most = map[string]int{"narrow": 1, "wide": 5, "tenant": 2, "tenants": 4, "paid": 3, "serial": 1}

const setWide = "select graphile_worker.set_limit('wide', tasks => '{wide}', max_running => 5)"

var setLimits = []string{
	"select graphile_worker.set_limit('narrow', tasks => '{narrow}', max_running => 1)",
	setWide,
	"select graphile_worker.set_limit('tenant', tasks => '{tenant,paid}', by => 'payload:tenant', max_running => 2, total_running => 4, fair => true)",
	"select graphile_worker.set_limit('paid', tasks => '{paid}', max_running => 3)",
}

func limitOf(lane string) string {
	name, _, _ := strings.Cut(lane, " ")
	return name
}

// lanes returns the lanes that a job counts for, each beginning with the name of its limit, and its queue.
func lanes(j job) (lanes []string) {
	if j.queue != nil {
		lanes = append(lanes, "serial "+*j.queue)
	}
	switch j.task {
	case "narrow", "wide":
		return append(lanes, j.task)
	case "tenant":
		return append(lanes, "tenant "+j.payload, "tenants")
	case "paid":
		return append(lanes, "tenant "+j.payload, "tenants", "paid")
	default:
		return lanes
	}
}
