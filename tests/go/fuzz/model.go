package fuzz

import (
	"database/sql"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gwsql/gw/internal/pgtest"
)

// text, number and truth are SQL values that may be null.
type (
	text   = sql.Null[string]
	number = sql.Null[int32]
	truth  = sql.Null[bool]
)

func textOf(s string) text { return text{V: s, Valid: true} }

// request is the arguments of add_job, or one spec of add_jobs.
type request struct {
	identifier, payload, queueName, runAt, jobKey text
	maxAttempts, priority                         number
	flags                                         []text // nil: null
	nestedFlags                                   bool   // flags are the only row of an array of two dimensions
	isNull                                        bool   // the spec is null; the other fields are null too
}

// job is a row of _private_jobs, with names in place of ids, and times as PostgreSQL prints them in UTC.
type job struct {
	id                    int64
	identifier            string
	queueName             text
	payload               string
	priority              int32
	runAt                 string
	attempts, maxAttempts int32
	lastError             text
	createdAt, updatedAt  string
	key                   text
	lockedBy              text
	revision              int32
	flags                 text
	isAvailable, isLocked bool
}

// counters are the last values of the sequences of jobs, tasks and queues.
type counters struct{ job, task, queue int64 }

// model is a queue according to the rules, for a single session. Its methods return the answers that the database must return.
type model struct {
	jobs          map[int64]job
	keys          map[string]int64 // the job under each key
	tasks, queues map[string]bool
	changed       []int64 // the rows stored since the last look, some perhaps more than once or removed again
	last          counters
	seen          map[string]int // how often each event occurred
	limits        []pgtest.Limit
}

func newModel() *model {
	return &model{
		jobs: map[int64]job{}, keys: map[string]int64{}, tasks: map[string]bool{}, queues: map[string]bool{},
		seen: map[string]int{},
	}
}

// tooDeep is a nesting of JSON that exceeds the stack of any server. Generated JSON is either far below or above it.
const tooDeep = 100_000

// addJob returns the answer of add_job at this time: a row or a SQLSTATE.
func (m *model) addJob(r request, mode text, now string) ([]job, string) {
	code := firstOf(encodingFault([]request{r}, mode), payloadFault(r.payload), r.refusal())
	if code == "" && r.jobKey.Valid && mode.Valid &&
		!slices.Contains([]string{"replace", "preserve_run_at", "unsafe_dedupe"}, mode.V) {
		code = "GWBKM"
	}
	if code != "" {
		m.seen[code]++
		return nil, code
	}
	return []job{m.jobs[m.add(r, mode.V, now)]}, ""
}

// addJobs returns the answer of add_jobs at this time: a row for each request or a SQLSTATE.
func (m *model) addJobs(requests []request, preserve truth, now string) ([]job, string) {
	code := encodingFault(requests, text{})
	for _, r := range requests {
		code = firstOf(code, payloadFault(r.payload), r.smallintFault())
	}
	for _, r := range requests {
		code = firstOf(code, r.refusal())
	}
	if code != "" {
		m.seen[code]++
		return nil, code
	}

	mode := "replace"
	if preserve.V {
		mode = "preserve_run_at"
	}
	ids := make([]int64, len(requests))
	for _, r := range requests {
		makeName(m.queues, r.queueName, &m.last.queue) // also of limited jobs
	}
	for i, r := range requests {
		ids[i] = m.add(r, mode, now)
	}
	rows := make([]job, len(ids))
	for i, id := range ids {
		rows[i] = m.jobs[id]
	}
	return rows, ""
}

// add adds a job of a valid request and returns its id.
func (m *model) add(r request, mode, now string) int64 {
	found, isThere := m.jobs[m.keys[r.jobKey.V]]
	isThere = isThere && r.jobKey.Valid
	if isThere && mode == "unsafe_dedupe" {
		m.seen["deduped"]++
		m.makeNames(r)
		found.revision, found.updatedAt = found.revision+1, now
		m.put(found)
		return found.id
	}
	j := job{
		identifier: r.identifier.V, queueName: r.queueName, payload: orElse(r.payload, "{}"),
		runAt:    orElse(r.runAt, now),
		priority: orElse(r.priority, 0), maxAttempts: orElse(r.maxAttempts, 25), key: r.jobKey,
		flags:     flagsObject(r.flags),
		updatedAt: now,
	}
	switch {
	case isThere && found.isAvailable:
		m.seen["replaced"]++
		if r.payload.Valid && isArray(found.payload) && isArray(j.payload) {
			m.seen["merged"]++
			j.payload = concatenate(found.payload, j.payload)
		}
		if mode == "preserve_run_at" && found.attempts == 0 {
			m.seen["run_at preserved"]++
			j.runAt = found.runAt
		} else if mode == "preserve_run_at" {
			m.seen["run_at of a failed attempt not preserved"]++
		}
		j.id, j.createdAt, j.revision = found.id, found.createdAt, found.revision+1
	case isThere:
		m.retire(found, now)
		fallthrough
	default:
		m.seen["inserted"]++
		m.last.job++
		j.id, j.createdAt = m.last.job, now
	}
	m.makeNames(r)
	m.put(j)
	return j.id
}

// retire removes the key of a running or permanently failed job, so that the job never runs again: a running job gets an additional
// attempt, so that it remains failed even if its worker returns an attempt.
func (m *model) retire(j job, now string) {
	delete(m.keys, j.key.V)
	j.key, j.updatedAt = text{}, now
	j.maxAttempts = min(j.maxAttempts, 32766)
	j.attempts = j.maxAttempts
	if j.lockedBy.Valid {
		m.seen["running job let go"]++
		j.attempts++
	} else {
		m.seen["failed job let go"]++
	}
	m.put(j)
}

// put stores a row.
func (m *model) put(j job) {
	j.isLocked = j.lockedBy.Valid
	j.isAvailable = !j.lockedBy.Valid && j.attempts < j.maxAttempts
	m.jobs[j.id] = j
	m.changed = append(m.changed, j.id)
	if j.key.Valid {
		m.keys[j.key.V] = j.id
	}
}

// remove deletes a row.
func (m *model) remove(j job) {
	delete(m.jobs, j.id)
	if j.key.Valid {
		delete(m.keys, j.key.V)
	}
}

// makeNames inserts the names of a request; new names get new ids.
func (m *model) makeNames(r request) {
	makeName(m.tasks, r.identifier, &m.last.task)
	makeName(m.queues, r.queueName, &m.last.queue)
}

func makeName(names map[string]bool, name text, last *int64) {
	if name.Valid && !names[name.V] {
		names[name.V] = true
		*last++
	}
}

// collectNames deletes the names that no job uses.
func (m *model) collectNames() {
	clear(m.tasks)
	clear(m.queues)
	for _, j := range m.jobs {
		m.tasks[j.identifier] = true
		if j.queueName.Valid {
			m.queues[j.queueName.V] = true
		}
	}
}

// refusal returns the code of the first rule that the request breaks. Lengths count characters.
func (r request) refusal() string {
	key, attempts, priority := utf8.RuneCountInString(r.jobKey.V), orElse(r.maxAttempts, 1), r.priority.V
	switch {
	case !r.identifier.Valid:
		return "GWBNI"
	case utf8.RuneCountInString(r.identifier.V) > 128:
		return "GWBID"
	case utf8.RuneCountInString(r.queueName.V) > 128:
		return "GWBQN"
	case r.jobKey.Valid && key == 0 || key > 512:
		return "GWBJK"
	case attempts < 1:
		return "GWBMA"
	case attempts > 32767:
		return "GWBMR"
	case priority < -32768 || priority > 32767:
		return "GWBPR"
	case slices.Contains(r.flags, text{}):
		return "GWBNF"
	case r.flagsSize() > 65536:
		return "GWBFL"
	}
	return ""
}

// flagsSize returns the length in bytes of the flags as PostgreSQL prints them; none of them is null.
func (r request) flagsSize() int {
	size := len("{}") + max(0, len(r.flags)-1)
	if r.nestedFlags && len(r.flags) > 0 {
		size += len("{}")
	}
	for _, flag := range r.flags {
		size += len(flag.V) + strings.Count(flag.V, `\`) + strings.Count(flag.V, `"`)
		if flag.V == "" || strings.EqualFold(flag.V, "null") || strings.ContainsAny(flag.V, "\"\\{}, \t\n\v\f\r") {
			size += len(`""`)
		}
	}
	return size
}

// smallintFault returns the code of a number that a job_spec cannot hold.
func (r request) smallintFault() string {
	for _, n := range []number{r.maxAttempts, r.priority} {
		if n.V < -32768 || n.V > 32767 {
			return "22003"
		}
	}
	return ""
}

// encodingFault returns the code of a text that is not valid UTF-8 in PostgreSQL, which excludes NUL.
func encodingFault(requests []request, mode text) string {
	for _, r := range requests {
		for _, t := range append([]text{r.identifier, r.payload, r.queueName, r.runAt, r.jobKey, mode}, r.flags...) {
			if !utf8.ValidString(t.V) || strings.Contains(t.V, "\x00") {
				return "22021"
			}
		}
	}
	return ""
}

// payloadFault returns the code of a payload that is not JSON, or too deep.
func payloadFault(payload text) string {
	switch {
	case !payload.Valid:
		return ""
	case nesting(payload.V) > tooDeep:
		return "54001"
	case !json.Valid([]byte(payload.V)):
		return "22P02"
	}
	return ""
}

// flagsObject returns an object of flag -> true, null when there are none.
func flagsObject(flags []text) text {
	if len(flags) == 0 {
		return text{}
	}
	object := map[string]string{}
	for _, flag := range flags {
		object[flag.V] = "true"
	}
	return textOf(renderObject(object))
}

func orElse[T any](value sql.Null[T], otherwise T) T {
	if value.Valid {
		return value.V
	}
	return otherwise
}

func firstOf(codes ...string) string {
	for _, code := range codes {
		if code != "" {
			return code
		}
	}
	return ""
}
