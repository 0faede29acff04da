package history

import (
	"context"
	"fmt"
	"strconv"
	"time"
)

const (
	jobColumns = `
		j.id, j.key, j.revision, j.payload::text, j.priority, (extract(epoch from j.run_at) * 1000000)::bigint, j.attempts,
		j.max_attempts, j.is_available`

	addJob = `
		select ` + jobColumns + `
		  from graphile_worker.add_job(
		         $1::text, $2::text::json, $3::text, clock_timestamp() + $4::text::interval, $5::integer, $6::text, $7::integer,
		         $8::text[], $9::text) as j`

	addJobs = `
		select ` + jobColumns + `
		  from graphile_worker.add_jobs(
		         array(
		           select row(
		                    s.identifier, s.payload::json, nullif(s.queue_name, ''),
		                    clock_timestamp() + nullif(s.delay, '')::interval, s.max_attempts::smallint,
		                    nullif(s.job_key, ''), s.priority::smallint,
		                    case when s.flagged then array['flag'] end)::graphile_worker.job_spec
		             from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::integer[], $6::text[], $7::integer[], $8::boolean[])
		               as s (identifier, payload, queue_name, delay, max_attempts, job_key, priority, flagged)),
		         $9::boolean) as j`

	dawdle   = "select count(*) from generate_series(1, 3000)"
	stumble  = "select 1 / 0"
	stumbled = "22012"
)

// request is a spec and further arguments of its call.
type request struct {
	spec
	list        bool
	delay       *time.Duration // from now to run_at
	maxAttempts int
	priority    int
}

func (r request) payload() string {
	if r.list {
		return fmt.Sprintf("[%d]", r.number)
	}
	return fmt.Sprintf(`{"n": %d}`, r.number)
}

// produce adds jobs, one or many at once, with and without keys, in transactions that commit or roll back.
func (r *run) produce(ctx context.Context, s *session) error {
	s.mortal = true
	for !r.over() {
		var e *event
		var call statement
		if s.odds(5) {
			e, call = s.addMany()
		} else {
			e, call = s.addOne()
		}
		if err := s.add(ctx, e, call); err != nil {
			return err
		}
	}
	return nil
}

// add makes a call that adds jobs.
func (s *session) add(ctx context.Context, e *event, call statement) error {
	rows, err := s.transact(ctx, e, call)
	if err != nil {
		return err
	}
	for i, columns := range rows {
		added, err := readRow(columns)
		if err != nil {
			return fmt.Errorf("read the answer of %s: %w", e, err)
		}
		if i < len(e.specs) {
			added.queue, added.task, added.flagged = e.specs[i].queue, e.specs[i].task, e.specs[i].flagged
		}
		e.rows = append(e.rows, added)
	}
	s.run.remember(e.rows)
	return nil
}

// transact makes a call in a transaction that may take longer or be rolled back, and returns the rows if it has
// committed.
func (s *session) transact(ctx context.Context, e *event, call statement) ([][][]byte, error) {
	statements := []statement{call}
	if s.odds(10) {
		statements = append(statements, statement{sql: dawdle})
	}
	if s.odds(30) {
		statements = append(statements, statement{sql: stumble})
	}
	rows, err := s.record(ctx, e, statements...)
	if e.code == stumbled {
		e.code = undone
	}
	if err != nil || e.code != done {
		return nil, err
	}
	return rows, nil
}

func (s *session) request(key int) request {
	q := request{spec: spec{number: s.run.numbers.Add(1), task: pick(s, tasks), flagged: s.odds(10)}}
	if s.odds(2) {
		q.queue = fmt.Sprintf("queue %d", s.IntN(s.run.profile.queues))
	}
	if key >= 0 {
		q.key, q.list = fmt.Sprintf("key %d", key), key%4 == 1
		q.mode = pick(s, []string{"replace", "replace", "preserve_run_at", "unsafe_dedupe"})
	}
	if s.odds(4) {
		delay := time.Duration(s.IntN(200)-50) * time.Millisecond
		q.delay = &delay
	}
	q.priority = s.IntN(3)
	q.maxAttempts = pick(s, []int{1, 2, 3, 25})
	return q
}

func (s *session) addOne() (*event, statement) {
	key := -1
	if !s.odds(4) {
		key = s.IntN(s.run.profile.keys)
	}
	q := s.request(key)
	e := &event{kind: add, specs: []spec{q.spec}}
	var flags []string
	if q.flagged {
		flags = []string{"flag"}
	}
	if q.key != "" {
		e.keys = []string{q.key}
	}
	var delay any
	if q.delay != nil {
		delay = *q.delay
	}
	return e, statement{addJob, []any{
		q.task, q.payload(), orNull(q.queue), delay, q.maxAttempts, orNull(q.key), q.priority, flags, orNull(q.mode),
	}}
}

func (s *session) addMany() (*event, statement) {
	preserve := s.odds(2)
	var requests []request
	for _, key := range s.Perm(s.run.profile.keys)[:1+s.IntN(min(5, s.run.profile.keys))] {
		if s.odds(4) {
			key = -1
		}
		requests = append(requests, s.request(key))
	}
	return addAll(requests, preserve)
}

// addAll adds jobs in one call.
func addAll(requests []request, preserve bool) (*event, statement) {
	e := &event{kind: add}
	mode := "replace"
	if preserve {
		mode = "preserve_run_at"
	}
	var identifiers, payloads, queues, delays, keys, flagged []string
	var attempts, priorities []int64
	for _, q := range requests {
		if q.key != "" {
			q.mode = mode
			e.keys = append(e.keys, q.key)
		}
		e.specs = append(e.specs, q.spec)
		delay := ""
		if q.delay != nil {
			delay = string(text(*q.delay))
		}
		identifiers, payloads, queues = append(identifiers, q.task), append(payloads, q.payload()),
			append(queues, q.queue)
		delays, keys, flagged = append(delays, delay), append(keys, q.key),
			append(flagged, strconv.FormatBool(q.flagged))
		attempts, priorities = append(attempts, int64(q.maxAttempts)), append(priorities, int64(q.priority))
	}
	return e, statement{addJobs, []any{identifiers, payloads, queues, delays, attempts, keys, priorities, flagged,
		preserve}}
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// readRow reads the columns of a job.
func readRow(columns [][]byte) (row, error) {
	if columns[0] == nil {
		return row{}, nil
	}
	var n [6]int64
	for i, column := range []int{0, 2, 4, 5, 6, 7} {
		var err error
		if n[i], err = strconv.ParseInt(string(columns[column]), 10, 64); err != nil {
			return row{}, err
		}
	}
	r := row{
		id: n[0], key: string(columns[1]), revision: int(n[1]), priority: int(n[2]), runAt: micros(n[3]),
		attempts: int(n[4]), maxAttempts: int(n[5]), available: string(columns[8]) == "t",
	}
	r.list, r.numbers = numbersIn(string(columns[3]))
	return r, nil
}

// numbersIn returns the numbers in a payload.
func numbersIn(payload string) (isList bool, numbers []int64) {
	number, isNumber := int64(0), false
	for _, c := range payload {
		if c >= '0' && c <= '9' {
			number, isNumber = number*10+int64(c-'0'), true
		} else if isNumber {
			numbers = append(numbers, number)
			number, isNumber = 0, false
		}
	}
	return payload[0] == '[', numbers
}
