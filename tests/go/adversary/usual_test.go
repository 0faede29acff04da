package adversary

import (
	"fmt"
	"strings"
	"sync"
)

// Hostile roles do not name the honest tasks: a producer has the right to enqueue jobs that come before those of
// others. The hostile tasks are served by the honest workers, so that these claim hostile jobs; the wild ones by the
// hostile worker.
var (
	honestTasks  = []string{"honest-shim", "honest-run", "honest-sql"}
	hostileTasks = []string{"hostile-shim", "hostile-run", "hostile-sql"}
	wildTasks    = []string{"wild", "Wild \"one\" it's", "wild\n"}
	limitNames   = []string{"l0", "l1", "l2"}
	honestQueues = []string{"honest 1", "honest 2"}
)

// claim is a job that a hostile role claimed or added, with its lease if it has one.
type claim struct{ id, lease int64 }

// knowledge is what hostile roles share.
type knowledge struct {
	mu     sync.Mutex
	claims []claim
}

func (k *knowledge) learn(c claim) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.claims = append(k.claims, c); len(k.claims) > 200 {
		k.claims = k.claims[100:]
	}
}

func (k *knowledge) recall(g generator) claim {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.claims) == 0 {
		return claim{id: -1}
	}
	return pick(g, k.claims)
}

// words are the usual texts of arguments with a name.
var words = map[string][]string{
	"worker_id": {"hostile 1", "hostile 2", "hostile 3"},
	"time_zone": {"UTC", "Europe/Berlin", "America/St_Johns", "posixrules", "EST5EDT", "<+25>-25",
		"../../etc/passwd"},
	"pattern": {"* * * * *", "*/5 * * * *", "0 0 29 2 *", "0 0 31 2 *", "59 23 31 12 *", "0-59/7,1,2,3 * * * 1-7",
		"* * * * * *", "@daily"},
	"job_key":      {"k0", "k1", "k2", "k3", "k4"},
	"job_key_mode": {"replace", "preserve_run_at", "unsafe_dedupe"},
	"identifier":   {"s0", "s1", "s2", "s3"},
	"limit_name":   limitNames,
	"lane":         {"a", "b", ""},
	"queues":       {"q*", "q1"},
	"by":           {"queue", "payload:a", "flag:a"},
	"job_state":    {"ready", "scheduled", "running", "failed"},
	"name": {"beat_every", "dead_after", "recovered_jobs", "crashes_allowed", "stale_sweep_every",
		"forget_worker_after", "old_snapshot_after",
		"max_payload", "notify"},
}

// usual returns a value that an honest call could have, by the name of the argument, or "" if there is none.
func (p *producer) usual(f function, a argument) string {
	g := p.generator
	word := func(list []string) string { return literal(pick(g, list)) + "::text" }
	c := p.known.recall(g)
	switch a.name {
	case "identifier":
		if !strings.HasPrefix(f.plain, "cron_") {
			return word(p.tasks())
		}
	case "task":
		return word(p.tasks())
	case "queue_name", "queue":
		// Not with a wild task: the hostile worker may keep such a job, and its queue with it.
		if p.kind == "limited" && f.plain != "enqueue_wild" && g.odds(4) {
			p.shares = true
			return word(honestQueues)
		}
		return word([]string{"q0", "q1", "q2"})
	case "job_key":
		if p.kind == "limited" && g.odds(3) {
			return literal(canaryKey) + "::text"
		}
	case "job_id", "after_id":
		return fmt.Sprintf("%d::bigint", c.id)
	case "lease":
		return fmt.Sprintf("%d::bigint", c.lease)
	case "job_ids", "known_ids":
		return fmt.Sprintf("array[%d]::bigint[]", c.id)
	case "leases":
		return fmt.Sprintf("array[%d]::bigint[]", c.lease)
	case "worker_ids":
		return "array[" + word(words["worker_id"]) + "]"
	case "task_identifiers", "keep_task_identifiers":
		return "array[" + word(wildTasks) + ", " + word(wildTasks) + "]"
	case "tasks":
		switch f.plain {
		case "set_limit":
			return "array[" + word(p.tasks()) + ", " + word(p.tasks()) + "]"
		case "cleanup":
			return pick(g, []string{"array['DELETE_PERMAFAILED_JOBS']", "array['GC_TASK_IDENTIFIERS']",
				"array['GC_JOB_QUEUES', 'GC_TASK_IDENTIFIERS']"})
		}
	case "failures":
		if a.typ != "json" { // a condition of list_history
			return ""
		}
		return fmt.Sprintf(`json_build_array(json_build_object('id', %d, 'lease', %d, 'message', %s, 'payload', %s, 'retry_in', %d))`,
			c.id, c.lease, g.edge("text"), g.edge("json"), g.IntN(3))
	case "items":
		return fmt.Sprintf(`json_build_array(json_build_object('identifier', %s, 'task', %s, 'pattern', %s, 'payload', %s, 'fill', %s))`,
			word(words["identifier"]), word(p.tasks()), word(words["pattern"]), g.edge("json"), g.edge("interval"))
	case "name":
		if strings.HasSuffix(f.plain, "_limit") {
			return word(limitNames)
		}
	case "timeout":
		return "'20 milliseconds'::interval"
	case "max_running", "total_running", "rate", "burst":
		return fmt.Sprintf("%d::integer", 1+g.IntN(20))
	case "task_forbidden_flags":
		return `'{"wild": ["a", "b"]}'::json`
	}
	if list, found := words[a.name]; found && a.typ == "text" {
		return word(list)
	}
	return ""
}

func (p *producer) tasks() []string {
	if p.generator.odds(4) {
		return wildTasks
	}
	return hostileTasks
}

// mustBeUsual reports whether a role could do harm through an argument that it has the right to use: a worker may claim
// jobs of any task, and an admin may limit them, so the hostile ones always give their own tasks.
func (p *producer) mustBeUsual(f function, a argument) bool {
	return p.kind == "worker" && a.name == "task_identifiers" || f.plain == "set_limit" &&
		(a.name == "tasks" || a.name == "queues")
}

// target returns the target of a pause, of several arguments that exclude each other, or "" for other functions.
// Without any of them everything is paused, which an admin may do.
func (p *producer) target(f function) string {
	if f.plain == "pause" || f.plain == "resume" {
		return pick(p.generator, targets)
	}
	return ""
}

var targets = []string{"task", "queue", "limit_name"}
