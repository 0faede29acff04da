package interleave

import (
	"maps"
	"reflect"
	"slices"
	"strings"
)

// changedSince adds the rows that were changed since another state.
func (s *state) changedSince(was *state, rows map[string]bool) {
	addChanged(s.Jobs, was.Jobs, jobRow, rows)
	addChanged(s.Queues, was.Queues, queueRow, rows)
	addChanged(s.Workers, was.Workers, workerRow, rows)
	addChanged(s.Suspects, was.Suspects, suspectRow, rows)
	addChanged(s.Records, was.Records, recordRow, rows)
	if s.SweptAt != was.SweptAt {
		rows[sweepRow] = true
	}
	if s.TidiedAt != was.TidiedAt {
		rows[tidyRow] = true
	}
	for id, j := range was.Jobs { // whose names are in use until the call that deletes it has ended
		if s.Jobs[id] == nil {
			rows[taskName(j.Task)], rows[queueName(j.Queue)] = true, true
		}
	}
	for name := range was.Tasks {
		if !s.Tasks[name] {
			rows[taskName(name)] = true
		}
	}
	for name := range was.Queues {
		if s.Queues[name] == nil {
			rows[queueName(name)] = true
		}
	}
}

func addChanged[K comparable, V any](now, was map[K]*V, name func(K) string, rows map[string]bool) {
	for key, value := range now {
		if was[key] == nil || !reflect.DeepEqual(*was[key], *value) {
			rows[name(key)] = true
		}
	}
	for key := range was {
		if now[key] == nil {
			rows[name(key)] = true
		}
	}
}

// addHeads adds the heads of the queues whose jobs are among these rows: a claim that finds a head locked takes nothing
// from its queue, even if it finds the job free afterwards, and in another queue or none. A batch had a place for it,
// which no other job need get.
func (s *state) addHeads(rows map[string]bool) {
	for id, j := range s.Jobs {
		if j.Queue != "" && !j.Held && rows[jobRow(id)] && !rows[queueRow(j.Queue)] {
			rows[headRow(j.Queue)], rows[placeRow(j.Queue)] = true, true
		}
	}
}

// Rows that calls lock in addition to those that they change. A row that a call names stays locked if the call then
// must not change it.

func rowsByID(ids []int64) (rows []string) {
	for _, id := range ids {
		rows = append(rows, jobRow(id))
	}
	return rows
}

func (h holder) holds(*state) []string       { return rowsByID(h.ids) }
func (c completeJobs) holds(*state) []string { return rowsByID(c.ids) }
func (c failJobs) holds(*state) []string     { return rowsByID(c.ids) }
func (c cancelJobs) holds(*state) []string   { return rowsByID(c.ids) }
func (c reschedule) holds(*state) []string   { return rowsByID(c.ids) }
func (c retryJobs) holds(*state) []string    { return rowsByID(c.ids) }

func (h heartbeat) holds(s *state) []string {
	return append(h.holder.holds(s), workerRow(h.worker), recoveryRow)
}

func (spec jobSpec) holds() []string {
	rows := []string{taskName(spec.task)}
	if spec.queue != "" {
		rows = append(rows, queueName(spec.queue))
	}
	return rows
}

func (c addJob) holds(*state) []string { return jobSpec(c).holds() }

func (c addJobs) holds(*state) (rows []string) {
	for _, spec := range c.specs {
		rows = append(rows, spec.holds()...)
	}
	return rows
}

func (c runCron) holds(s *state) (rows []string) {
	entries := slices.Collect(maps.Values(s.Schedules))
	for _, item := range c.items {
		entries = append(entries, &item)
	}
	for _, entry := range entries {
		rows = append(rows, jobSpec{task: entry.Task, queue: entry.Queue}.holds()...)
	}
	return rows
}

// A claim locks a queue before it looks whether it can take the head.
func (c claimer) holds(s *state) (rows []string) {
	for _, j := range s.Jobs {
		if j.Queue != "" && j.isAvailable() {
			rows = append(rows, queueRow(j.Queue))
		}
	}
	return rows
}

// Rows that calls skip.

func isOf(row string, kinds ...string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool { return strings.HasPrefix(row, kind+" ") })
}

func (c claimer) passes(row string) bool {
	return isOf(row, "job", "queue", "head") && !isOf(row, "queue name")
}
func (c getJob) passes(row string) bool   { return c.claimer.passes(row) || row == sweepRow }
func (c makeRoom) passes(row string) bool { return isOf(row, "suspect") }
func (c renew) passes(row string) bool {
	return slices.Contains(rowsByID(c.ids), row) || isOf(row, "queue") && !isOf(row, "queue name")
}
func (c cleanup) passes(row string) bool {
	return isOf(row, "job", "queue name", "task name", "worker", "suspect", "record")
}
func (c stale) passes(row string) bool {
	return row == sweepRow || isOf(row, "job", "queue", "worker", "suspect") && !isOf(row, "queue name")
}
func (c tidy) passes(row string) bool {
	return row == tidyRow || isOf(row, "job", "worker", "suspect", "record")
}
func (c heartbeat) passes(row string) bool {
	return row == recoveryRow || row != workerRow(c.worker) && isOf(row, "job", "queue", "worker", "suspect") &&
		!isOf(row, "queue name")
}
