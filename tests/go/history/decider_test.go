package history

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// rowOf is a function that returns a job as the transaction that calls it has left it, although the statement began
// before.
const rowOf = `
	create function row_of(job bigint) returns setof graphile_worker._private_jobs language plpgsql as $$
	begin
	  return query select j.* from graphile_worker._private_jobs as j where j.id = row_of.job;
	end
	$$`

const decisionColumns = `
		d.id, d.state, (extract(epoch from d.due_at) * 1000000)::bigint, d.revision, d.is_new, ` + jobColumns

// decisions are the calls that decide by a key, with the same parameters. $4 and $5 are intervals.
var decisions = map[kind]string{
	once: "select " + decisionColumns + `
		  from graphile_worker.add_job_once(
		         $1::text, $2::text::json, $3::text, $4::interval + coalesce($5::interval, '0'), $6::text, null, $7::integer,
		         $8::integer, $9::text[]) as d
		  left join lateral row_of(d.id) as j on true`,
	debounce: "select " + decisionColumns + `
		  from graphile_worker.debounce_job(
		         $1::text, $2::text::json, $3::text, $4::interval, $5::interval, $6::text, $7::integer, $8::integer, $9::text[]) as d
		  left join lateral row_of(d.id) as j on true`,
	throttle: "select " + decisionColumns + `
		  from graphile_worker.throttle_job(
		         $1::text, $2::text::json, $3::text, $4::interval + coalesce($5::interval, '0'), $6::text, $7::integer, $8::integer,
		         $9::text[]) as d
		  left join lateral row_of(d.id) as j on true`,
}

const (
	onceWithin    = 200 * time.Millisecond
	debounceMost  = 60 * time.Millisecond
	throttleEvery = 100 * time.Millisecond
)

var debounceWait = []time.Duration{0, 10 * time.Millisecond, 30 * time.Millisecond}

// decide makes calls that decide by a key. Most calls under a key are of one kind.
func (r *run) decide(ctx context.Context, s *session) error {
	s.mortal = true
	for !r.over() {
		e, call := s.decision()
		rows, err := s.transact(ctx, e, call)
		if err != nil {
			return err
		}
		for _, columns := range rows {
			if err := e.readDecision(columns); err != nil {
				return fmt.Errorf("read the answer of %s: %w", e, err)
			}
		}
		r.remember(e.rows)
	}
	return nil
}

func (s *session) decision() (*event, statement) {
	key := s.IntN(s.run.profile.keys)
	kinds := []kind{once, debounce, throttle}
	how := kinds[key%len(kinds)]
	if s.odds(10) {
		how = pick(s, kinds)
	}
	q := s.request(key)
	q.mode = string(how)
	e := &event{kind: how, specs: []spec{q.spec}, keys: []string{q.key}}
	interval, most := onceWithin, any(nil)
	switch how {
	case throttle:
		interval = throttleEvery
	case debounce:
		interval = pick(s, debounceWait)
		if !s.odds(3) {
			most, e.maxWait = debounceMost, micros(debounceMost.Microseconds())
		}
	}
	e.interval = micros(interval.Microseconds())
	var flags []string
	if q.flagged {
		flags = []string{"flag"}
	}
	return e, statement{decisions[how], []any{
		q.task, q.payload(), q.key, interval, most, orNull(q.queue), q.maxAttempts, q.priority, flags,
	}}
}

// readDecision reads the answer of such a call. The call has added or replaced the job if its number is in the payload.
func (e *event) readDecision(columns [][]byte) (err error) {
	if e.decided.id, err = strconv.ParseInt(string(columns[0]), 10, 64); err != nil {
		return err
	}
	e.decided.state, e.decided.isNew = string(columns[1]), string(columns[4]) == "t"
	if columns[2] != nil {
		due, err := strconv.ParseInt(string(columns[2]), 10, 64)
		if err != nil {
			return err
		}
		e.decided.dueAt = micros(due)
		if e.decided.revision, err = strconv.Atoi(string(columns[3])); err != nil {
			return err
		}
	}
	job, err := readRow(columns[5:])
	if err != nil {
		return err
	}
	if e.kind != once || slices.Contains(job.numbers, e.specs[0].number) {
		job.queue, job.task, job.flagged = e.specs[0].queue, e.specs[0].task, e.specs[0].flagged
		e.rows = []row{job}
	}
	return nil
}
