package config

import (
	"strings"

	"github.com/gwsql/gw/pkg/shim"
)

// Limit is a limit to set in the database. Numbers that are not set are 0.
type Limit struct {
	shim.Limit
	Position Position
}

// OfLimit returns the keys of a limit.
func OfLimit() []Key {
	return []Key{
		{"tasks", Names, "all", "The tasks to whose jobs the limit applies.", ""},
		{"by", Text, "one lane for all", "What assigns each job to a lane: `flag:NAME` or `payload:FIELD`.", ""},
		{"max_running", Number, "no limit", "How many jobs of a lane run at once, in all workers together.", ""},
		{"total_running", Number, "no limit", "How many jobs of all lanes run at once.", ""},
		{"rate", Number, "no limit", "How many jobs of a lane start within `per`.", ""},
		{"per", Time, "", "The time of `rate`.", ""},
		{"burst", Number, "`rate`", "How many jobs of a lane start at once.", ""},
		{"fair", YesNo, "false", "The lanes take turns: among jobs of equal priority, the lane with the fewest running jobs comes first.", ""},
		{"strict", Time, "0s", "For how long a job of a worker that seems dead keeps its slots after another worker may run it.", ""},
	}
}

func (r *reader) limits(file *File, e entry) {
	for _, limit := range r.entries(e.value, r.valueAt(e), e.name) {
		if strings.TrimSpace(limit.name) == "" {
			r.refuse(limit.at, "a limit has an empty name")
			continue
		}
		file.Limits = append(file.Limits, r.limit(limit))
	}
}

// limit reads one limit. The database also checks which keys belong together, but its errors have no line.
func (r *reader) limit(e entry) Limit {
	limit := Limit{shim.Limit{Name: e.name}, e.at}
	for _, inner := range r.entries(e.value, r.valueAt(e), "limit "+e.name) {
		switch inner.name {
		case "tasks":
			for _, element := range r.list(inner) {
				limit.Tasks = append(limit.Tasks, r.text(element).Value)
			}
		case "queues":
			r.refuse(inner.at, "a limit has no queues any more; it applies to all jobs of its tasks, which keep the order of their queues: "+
				"write tasks instead, and by: payload:FIELD if each queue shall have a lane")
		case "by":
			limit.By = r.laneKey(inner)
		case "max_running":
			limit.MaxRunning = r.number(inner, maxLimit)
		case "total_running":
			limit.TotalRunning = r.number(inner, maxLimit)
		case "rate":
			limit.Rate = r.number(inner, maxLimit)
		case "per":
			limit.Per = r.time(inner)
		case "burst":
			limit.Burst = r.number(inner, maxLimit)
		case "fair":
			limit.Fair = r.yes(inner)
		case "strict":
			limit.Strict = r.time(inner)
		default:
			r.unknown(inner, " in a limit", names(OfLimit()))
		}
	}
	if len(r.problems) == 0 {
		r.checkLimit(limit)
	}
	return limit
}

// maxLimit is the largest integer of PostgreSQL.
const maxLimit = 1<<31 - 1

// laneKey returns what assigns jobs to lanes.
func (r *reader) laneKey(e entry) string {
	text, ok := r.scalar(e)
	name, found := strings.CutPrefix(text.Value, "flag:")
	if !found {
		name, found = strings.CutPrefix(text.Value, "payload:")
	}
	switch {
	case !ok:
	case text.Value == "queue":
		r.refuse(r.valueAt(e), "there is no by: queue any more; write by: payload:FIELD with the field from which the name of the queue is made")
	case !found || name == "":
		r.refuse(r.valueAt(e), "by takes flag:NAME or payload:FIELD, not %q", text.Written)
	}
	return text.Value
}

func (r *reader) checkLimit(limit Limit) {
	switch {
	case limit.MaxRunning == 0 && limit.TotalRunning == 0 && limit.Rate == 0 && !limit.Fair:
		r.refuse(limit.Position, "the limit %s limits nothing; set max_running, total_running, rate or fair",
			limit.Name)
	case limit.Fair && limit.By == "":
		r.refuse(limit.Position, "the limit %s has fair without by, so it has no lanes that could take turns",
			limit.Name)
	case (limit.Rate == 0) != (limit.Per == 0):
		r.refuse(limit.Position, "the limit %s has only one of rate and per, which belong together", limit.Name)
	case limit.Burst != 0 && limit.Rate == 0:
		r.refuse(limit.Position, "the limit %s has burst without rate", limit.Name)
	case limit.Strict != 0 && limit.MaxRunning == 0 && limit.TotalRunning == 0:
		r.refuse(limit.Position, "the limit %s has strict without max_running and total_running, so it has no slots to keep", limit.Name)
	case limit.By == "" && limit.MaxRunning != 0 && limit.TotalRunning != 0:
		r.refuse(limit.Position, "the limit %s has one lane, so max_running and total_running are the same; remove one of them", limit.Name)
	}
}
