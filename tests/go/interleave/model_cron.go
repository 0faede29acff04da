package interleave

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// crontab is the stored state of a recurring job, wherever it is defined.
type crontab struct {
	KnownSince    moment
	LastExecution moment
}

// schedule is a recurring job of the database, or an item of a worker's crontab.
type schedule struct {
	Identifier  string
	Task        string
	Pattern     string // every minute or every fifth: the model knows no others
	Payload     string
	Queue       string
	Key         string
	Mode        string
	Paused      bool
	ActiveSince moment
	LastRun     moment
	LastJobID   int64
}

func (c *schedule) matches(at moment) bool {
	return c.Pattern == "* * * * *" || at%(5*minute) == 0
}

// cronSchedule is cron_schedule.
type cronSchedule struct {
	identifier, pattern, task, payload, queue, key, mode string
}

func (c cronSchedule) sql() string {
	return fmt.Sprintf("select graphile_worker.cron_schedule(%s, %s, %s, %s, queue_name => %s, job_key => %s, job_key_mode => %s) is not null",
		literal(c.identifier), literal(c.pattern), literal(c.task), literal(c.payload), literal(c.queue),
		literal(c.key), literal(c.mode))
}

func (c cronSchedule) apply(s *state, e env) answer {
	for _, w := range s.Workers {
		if slices.Contains(w.Crontab, c.identifier) {
			return answer{code: "GWRID"}
		}
	}
	if s.Crontabs[c.identifier] == nil {
		s.Crontabs[c.identifier] = &crontab{KnownSince: e.now}
	}
	known := s.Schedules[c.identifier]
	if known == nil {
		known = &schedule{Identifier: c.identifier, ActiveSince: e.now}
		s.Schedules[c.identifier] = known
	} else if known.Pattern != c.pattern {
		known.ActiveSince = e.now
	}
	known.Task, known.Pattern, known.Payload, known.Queue, known.Key, known.Mode = c.task, c.pattern, jsonb(c.payload),
		c.queue, c.key, c.mode
	return answer{rows: []string{boolText(!known.Paused)}}
}

// cronUnschedule is cron_unschedule.
type cronUnschedule struct{ identifier string }

func (c cronUnschedule) sql() string {
	return fmt.Sprintf("select graphile_worker.cron_unschedule(%s)", literal(c.identifier))
}

func (c cronUnschedule) apply(s *state, _ env) answer {
	if s.Schedules[c.identifier] == nil {
		return answer{rows: []string{"f"}}
	}
	delete(s.Schedules, c.identifier)
	delete(s.Crontabs, c.identifier)
	return answer{rows: []string{"t"}}
}

// cronPause is cron_pause, or cron_resume.
type cronPause struct {
	identifier string
	resume     bool
}

func (c cronPause) sql() string {
	function := "cron_pause"
	if c.resume {
		function = "cron_resume"
	}
	return fmt.Sprintf("select graphile_worker.%s(%s)", function, literal(c.identifier))
}

func (c cronPause) apply(s *state, e env) answer {
	known := s.Schedules[c.identifier]
	if known == nil {
		return answer{rows: []string{"f"}}
	}
	if c.resume && known.Paused {
		known.ActiveSince = e.now
	}
	known.Paused = !c.resume
	return answer{rows: []string{"t"}}
}

// runCron is run_cron.
type runCron struct {
	items      []schedule
	since, now moment // since 0: the worker has just started; its items have no fill
	worker     string
}

func (c runCron) sql() string {
	items := make([]map[string]any, len(c.items))
	for i, item := range c.items {
		items[i] = map[string]any{"identifier": item.Identifier, "task": item.Task, "pattern": item.Pattern}
		for key, value := range map[string]string{"queue_name": item.Queue, "job_key": item.Key,
			"job_key_mode": item.Mode} {
			if value != "" {
				items[i][key] = value
			}
		}
	}
	text, _ := json.Marshal(items)
	return fmt.Sprintf(`select (select string_agg((x ->> 'identifier') || ' ' || (x ->> 'ts') || ' ' || (x ->> 'backfilled'), ', ')
		from json_array_elements(r.scheduled) as x), (select string_agg((x ->> 'identifier') || ': ' || (x ->> 'problem'), ', ')
		from json_array_elements(r.problems) as x) from graphile_worker.run_cron('%s', %s, %s, %s) as r`,
		text, timeLiteral(c.since), timeLiteral(c.now), literal(c.worker))
}

// cronRun is one minute of a recurring job.
type cronRun struct {
	of *schedule
	at moment
}

func (c runCron) apply(s *state, e env) answer {
	handled := max(c.since-c.since%minute, c.now-c.now%minute)
	if c.since == 0 && c.now%minute == 0 {
		handled = c.now - minute
	}
	var problems, scheduled []string
	var entries []*schedule
	identifiers := []string{}
	for _, item := range c.items {
		identifiers = append(identifiers, item.Identifier)
		if s.Schedules[item.Identifier] != nil {
			problems = append(problems, item.Identifier+": A schedule in the database has this identifier; it runs instead.")
			continue
		}
		item.ActiveSince = minusInfinity
		entries = append(entries, &item)
	}
	if w := s.Workers[c.worker]; w != nil {
		w.Crontab = identifiers
	}
	for _, identifier := range slices.Sorted(maps.Keys(s.Schedules)) {
		if !s.Schedules[identifier].Paused {
			entries = append(entries, s.Schedules[identifier])
		}
	}
	var refused []string
	for _, r := range s.dueRuns(entries, c.since, handled, c.now) {
		j := s.addRun(r, c.since == 0, e)
		if j == nil {
			if !slices.Contains(refused, r.of.Identifier) {
				refused = append(refused, r.of.Identifier)
				problems = append(problems, r.of.Identifier+": A job of another task has the job key, so no job was added.")
			}
			continue
		}
		scheduled = append(scheduled, fmt.Sprintf("%s %s %t", r.of.Identifier,
			time.UnixMicro(int64(r.at)).UTC().Format("2006-01-02T15:04:05+00:00"), c.since == 0))
	}
	return answer{rows: []string{join(scheduled) + "|" + join(problems)}}
}

func join(texts []string) string {
	all := ""
	for i, text := range texts {
		if i > 0 {
			all += ", "
		}
		all += text
	}
	return all
}

// dueRuns returns the minutes that are due, oldest first, and makes unknown recurring jobs known.
func (s *state) dueRuns(entries []*schedule, since, handled, now moment) (runs []cronRun) {
	for _, entry := range entries {
		from := since
		known := s.Crontabs[entry.Identifier]
		switch {
		case since == 0 && known == nil:
			from = handled
		case since == 0:
			from = max(now, known.KnownSince) - 1
		}
		if from < entry.ActiveSince {
			from = entry.ActiveSince - 1
		}
		if known != nil && known.LastExecution != 0 {
			from = max(from, known.LastExecution)
		}
		isDue := false
		for at := from - from%minute; at <= handled; at += minute {
			if at > from && entry.matches(at) {
				runs = append(runs, cronRun{entry, at})
				isDue = true
			}
		}
		if known == nil && (since == 0 || isDue) {
			s.Crontabs[entry.Identifier] = &crontab{KnownSince: now}
		}
	}
	slices.SortStableFunc(runs, func(a, b cronRun) int { return int(a.at - b.at) })
	return runs
}

// addRun adds the job of a run; nil if the key of a schedule belongs to a job of another task.
func (s *state) addRun(r cronRun, backfilled bool, e env) *job {
	s.Crontabs[r.of.Identifier].LastExecution = r.at
	_, isSchedule := s.Schedules[r.of.Identifier]
	if under := s.underKey(r.of.Key); isSchedule && under != nil && under.Task != r.of.Task {
		return nil
	}
	var payload map[string]any
	_ = json.Unmarshal([]byte(r.of.Payload), &payload)
	if payload == nil {
		payload = make(map[string]any)
	}
	payload["_cron"] = map[string]any{"ts": time.UnixMicro(int64(r.at)).UTC().Format("2006-01-02T15:04:05.000Z"),
		"backfilled": backfilled}
	text, _ := json.Marshal(payload)
	j := s.put(jobSpec{task: r.of.Task, payload: string(text), queue: r.of.Queue, key: r.of.Key, mode: r.of.Mode,
		runAt: r.at}, e)
	if isSchedule {
		r.of.LastRun, r.of.LastJobID = r.at, j.ID
	}
	return j
}
