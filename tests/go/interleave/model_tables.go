package interleave

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// readState returns what the tables hold.
func readState(ctx context.Context, conn *pgx.Conn) (*state, error) {
	var text []byte
	if err := conn.QueryRow(ctx, stateQuery).Scan(&text); err != nil {
		return nil, fmt.Errorf("read the tables: %w", err)
	}
	s := &state{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("read the tables: %w", err)
	}
	return s, nil
}

// moments is the SQL of a time as a moment.
func moments(column string) string {
	return fmt.Sprintf("case %[1]s when '-infinity' then -9223372036854775808 when 'infinity' then 9223372036854775807 "+
		"else coalesce((extract(epoch from %[1]s) * 1000000)::bigint, 0) end", column)
}

// objects is the SQL of an object with a member for each row.
func objects(key, value, from string) string {
	return fmt.Sprintf("(select coalesce(json_object_agg(%s, json_build_object(%s)), '{}') from %s)", key, value, from)
}

var stateQuery = `
	select json_build_object(
	  'Tasks', (select coalesce(json_object_agg(t.identifier, true), '{}') from graphile_worker._private_tasks as t),
	  'Queues', ` + objects("q.queue_name", "'LockedBy', q.locked_by, 'LockedAt', "+moments("q.locked_at"),
	"graphile_worker._private_job_queues as q") + `,
	  'Jobs', ` + objects("j.id", `'ID', j.id, 'Task', t.identifier, 'Queue', graphile_worker._gw_queue_name(j.job_queue_id, j.id),
	      'Held', coalesce(j.job_queue_id = -2, false), 'Payload', j.payload::jsonb::text,
	      'Priority', j.priority, 'RunAt', `+moments("j.run_at")+`, 'Attempts', j.attempts, 'MaxAttempts', j.max_attempts,
	      'LastError', j.last_error, 'CreatedAt', `+moments("j.created_at")+`, 'UpdatedAt', `+moments("j.updated_at")+`,
	      'Key', j.key, 'LockedBy', j.locked_by, 'LockedAt', `+moments("j.locked_at")+`, 'Revision', j.revision,
	      'Flags', j.flags::text,
	      'Steps', (select string_agg(s.name || '=' || s.result, ' ' order by s.name) from graphile_worker.job_steps(j.id) as s)`,
	`graphile_worker._private_jobs as j
	      left join graphile_worker._private_tasks as t on t.id = j.task_id`) + `,
	  'Suspects', ` + objects("s.job_id", `'JobID', s.job_id, 'Crashes', s.crashes, 'WorkerID', s.worker_id,
	      'IsAlone', s.is_alone, 'Strict', s.strict, 'RoomAt', `+moments("s.room_at"),
	"graphile_worker._gw_suspects as s") + `,
	  'Cancels', ` + objects("c.job_id", "'WorkerID', c.worker_id, 'Reason', c.reason",
	"graphile_worker._gw_cancels as c") + `,
	  'Records', ` + objects("c.kind || ' ' || c.key",
	`'JobID', c.job_id, 'BeganAt', `+moments("c.began_at")+`, 'NotBefore', `+
		moments("c.not_before")+", 'KeptUntil', "+moments("c.kept_until"), "graphile_worker._gw_keyed_calls as c") + `,
	  'Workers', ` + objects("w.id", `'Tasks', w.tasks, 'Crontab', w.crontab, 'LastSeenAt', `+moments("w.last_seen_at")+`,
	      'BeatingSince', `+moments("w.beating_since")+", 'RecoveredAt', "+moments("w.recovered_at"),
	"graphile_worker._gw_workers as w") + `,
	  'Crontabs', ` + objects("k.identifier", "'KnownSince', "+moments("k.known_since")+", 'LastExecution', "+moments("k.last_execution"),
	"graphile_worker._private_known_crontabs as k") + `,
	  'Schedules', ` + objects("s.identifier", `'Identifier', s.identifier, 'Task', s.task, 'Pattern', s.pattern,
	      'Payload', s.payload::jsonb::text, 'Queue', s.queue_name, 'Key', s.job_key, 'Mode', s.job_key_mode, 'Paused', s.paused,
	      'ActiveSince', `+moments("s.active_since")+", 'LastRun', "+moments("s.last_run")+", 'LastJobID', coalesce(s.last_job_id, 0)",
	"graphile_worker._gw_schedules as s") + `,
	  'RunAgain', graphile_worker.setting('recovered_jobs') = 'run',
	  'ReadAt', ` + moments("clock_timestamp()") + `,
	  'SweptAt', (select ` + moments("t.last_at") + ` from graphile_worker._gw_turns as t where t.name = 'stale_sweep'),
	  'TidiedAt', (select ` + moments("t.last_at") + ` from graphile_worker._gw_turns as t where t.name = 'tidy'),
	  'LastID', (select case when q.is_called then q.last_value else q.last_value - 1 end from graphile_worker.jobs_id_seq1 as q))`

// text returns the rows in a form that depends neither on clocks nor on the order in which ids were drawn. Jobs that
// were there before have their ids.
func (s *state) text(o origin) string {
	at := func(m moment) string { return o.class(m, s.ReadAt) }
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)+"\n") }
	for name := range s.Tasks {
		add("task %s", name)
	}
	for name, q := range s.Queues {
		add("queue %s: locked_by %q at %s", name, q.LockedBy, at(q.LockedAt))
	}
	for id, j := range s.Jobs {
		add("%s: %s, task %s, queue %q, held %t, run_at %s, last_error %q, locked at %s, updated %s, steps %q",
			s.label(id, o), j.text(), j.Task, j.Queue, j.Held && j.isAvailable(), at(j.RunAt), withoutTime(j.LastError),
			at(j.LockedAt), at(j.UpdatedAt), j.Steps)
	}
	for id, x := range s.Suspects {
		if !s.counts(x) {
			continue // spent: it means nothing, and the next heartbeat that sees it deletes it
		}
		add("suspect %s: crashes %d, worker %q, alone %t, strict %t, room %s",
			s.label(id, o), x.Crashes, x.WorkerID, x.IsAlone, x.Strict, at(x.RoomAt))
	}
	for id, c := range s.Cancels {
		if !s.isCanceled(id) {
			continue // spent, too
		}
		add("canceled %s: worker %q, reason %q", s.label(id, o), c.WorkerID, c.Reason)
	}
	for name, r := range s.Records {
		add("record %s: %s, began %s, not before %s, kept until %s", name, s.label(r.JobID, o), at(r.BeganAt),
			at(r.NotBefore), at(r.KeptUntil))
	}
	for id, w := range s.Workers {
		add("worker %s: tasks %v, crontab %v, seen %s, beating since %s, recovered %s",
			id, w.Tasks, w.Crontab, at(w.LastSeenAt), at(w.BeatingSince), at(w.RecoveredAt))
	}
	for id, k := range s.Crontabs {
		add("crontab %s: known since %s, last %s", id, at(k.KnownSince), at(k.LastExecution))
	}
	for id, x := range s.Schedules {
		add("schedule %s: %s %s %s, queue %q, key %q %q, paused %t, since %s, last %s %s", id, x.Pattern, x.Task,
			x.Payload, x.Queue,
			x.Key, x.Mode, x.Paused, at(x.ActiveSince), at(x.LastRun), s.label(x.LastJobID, o))
	}
	slices.Sort(lines)
	return strings.Join(lines, "") + "swept " + at(s.SweptAt) + ", tidied " + at(s.TidiedAt) + "\n"
}

// label names a job: one that is new by what it carries, for ids depend on the order of the calls.
func (s *state) label(id int64, o origin) string {
	if j := s.Jobs[id]; j != nil && id > o.lastID {
		return "new job"
	} else if j == nil && id > o.lastID {
		return "new job that is gone"
	}
	return fmt.Sprintf("job %d", id)
}

var timeOfDeath = regexp.MustCompile(`last seen at [-0-9: ]+ UTC`)

func withoutTime(message string) string { return timeOfDeath.ReplaceAllString(message, "last seen") }

// class returns a time as the calls of a run may have made it: during the run, a back-off or some minutes before or
// after, or any other time as it is.
func (o origin) class(m, until moment) string {
	const day = 24 * hour
	switch {
	case m == 0:
		return "-"
	case m == o.lease:
		return "the lease"
	case m >= o.began && m <= until:
		return "now"
	case m < o.began-30*day || m > until+30*day:
		return fmt.Sprint(int64(m))
	}
	for n := range 11 {
		if m >= o.began+backoff(n) && m <= until+backoff(n) {
			return fmt.Sprintf("back-off %d", n)
		}
	}
	return fmt.Sprintf("%+d minutes", int64(math.Round(float64(m-o.began)/float64(minute))))
}
