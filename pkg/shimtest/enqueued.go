package shimtest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/rows"
	"github.com/gwsql/gw/pkg/shim"
)

// Match describes an expected job in addition to its task. Zero fields match anything.
type Match struct {
	// Payload is the expected payload: of an object at least these members, of any other value exactly this one. It is
	// any value that encoding/json can encode.
	Payload any

	// QueueName is the named queue of the job.
	QueueName string

	// JobKey is the key of the job.
	JobKey string

	// Priority is the job's priority.
	Priority *int

	// MaxAttempts is the max_attempts of the job.
	MaxAttempts int

	// RunAt is the run_at of the job, to the microsecond.
	RunAt time.Time

	// Flags are flags that the job has, possibly among others.
	Flags []string

	// Schema is the schema of the queue, not quoted. Default: "graphile_worker".
	Schema string
}

// RequireEnqueued fails the test unless the transaction of db has added exactly one job of a task that match describes,
// and returns the job. A job that the transaction has replaced by its key counts. match may be nil.
//
// Pass the transaction that adds the job, before it ends. A pool has no transaction, so nothing is found on a pool.
func RequireEnqueued(tb TB, db shim.DB, task string, match *Match) *shim.JobInfo {
	tb.Helper()
	return requireOne(tb, pgxReader(db), task, match)
}

// RequireEnqueuedSQL is [RequireEnqueued] for database/sql.
func RequireEnqueuedSQL(tb TB, db shim.SQLDB, task string, match *Match) *shim.JobInfo {
	tb.Helper()
	return requireOne(tb, sqlReader(db), task, match)
}

// RequireNotEnqueued fails the test if the transaction of db has added a job of a task that match describes.
func RequireNotEnqueued(tb TB, db shim.DB, task string, match *Match) {
	tb.Helper()
	requireNone(tb, pgxReader(db), task, match)
}

// RequireNotEnqueuedSQL is [RequireNotEnqueued] for database/sql.
func RequireNotEnqueuedSQL(tb TB, db shim.SQLDB, task string, match *Match) {
	tb.Helper()
	requireNone(tb, sqlReader(db), task, match)
}

// Enqueued returns the jobs of a task that match describes and that the transaction of db has added, oldest first.
func Enqueued(tb TB, db shim.DB, task string, match *Match) []*shim.JobInfo {
	tb.Helper()
	return infos(find(tb, pgxReader(db), task, match).matching)
}

// EnqueuedSQL is [Enqueued] for database/sql.
func EnqueuedSQL(tb TB, db shim.SQLDB, task string, match *Match) []*shim.JobInfo {
	tb.Helper()
	return infos(find(tb, sqlReader(db), task, match).matching)
}

func requireOne(tb TB, db reader, task string, match *Match) *shim.JobInfo {
	tb.Helper()
	found := find(tb, db, task, match)
	switch len(found.matching) {
	case 0:
		tb.Fatalf("this transaction has added no job %s%s", match.describe(task), found.others())
		return nil
	case 1:
		return found.matching[0].info
	}
	tb.Fatalf("this transaction has added %d jobs %s, want one:%s", len(found.matching), match.describe(task),
		list(found.matching))
	return nil
}

func requireNone(tb TB, db reader, task string, match *Match) {
	tb.Helper()
	if found := find(tb, db, task, match); len(found.matching) > 0 {
		tb.Fatalf("this transaction has added %d jobs %s, want none:%s", len(found.matching), match.describe(task),
			list(found.matching))
	}
}

// found are the jobs of this transaction.
type found struct {
	matching []added
	rest     []added // of any task
}

type added struct {
	info    *shim.JobInfo
	payload json.RawMessage
}

func find(tb TB, db reader, task string, match *Match) (result found) {
	tb.Helper()
	ctx, cancel := limited()
	defer cancel()
	if match == nil {
		match = &Match{}
	}
	var want any
	if match.Payload != nil {
		text, err := json.Marshal(match.Payload)
		if err != nil {
			tb.Fatalf("encode the payload of the expected job: %v", err)
			return
		}
		if want, err = decode(text); err != nil {
			tb.Fatalf("decode the payload of the expected job: %v", err)
			return
		}
	}
	jobs, err := addedBy(ctx, db, match.Schema)
	if err != nil {
		tb.Fatalf("look for jobs: %v", err)
		return
	}
	for _, job := range jobs {
		payload, err := decode(job.payload)
		if err != nil {
			tb.Fatalf("decode the payload of job %d: %v", job.info.ID, err)
			return
		}
		if job.info.TaskIdentifier == task && match.fits(job.info) && (match.Payload == nil || holds(payload, want)) {
			result.matching = append(result.matching, job)
		} else {
			result.rest = append(result.rest, job)
		}
	}
	return result
}

// addedBy returns the jobs that the transaction has added or replaced. It compares times, because ids of transactions
// differ within savepoints: now() is when this transaction began.
func addedBy(ctx context.Context, db reader, schema string) ([]added, error) {
	schema = cmp.Or(schema, "graphile_worker")
	var jobs []added
	err := db.Each(ctx, func(scan func(...any) error) error {
		job := added{info: &shim.JobInfo{}}
		err := scan(&job.info.ID, (*[]byte)(&job.payload))
		jobs = append(jobs, job)
		return err
	}, fmt.Sprintf(`
		select j.id, j.payload::pg_catalog.text
		  from %s._private_jobs as j
		 where j.created_at operator(pg_catalog.=) pg_catalog.now()
		    or j.revision operator(pg_catalog.>) 0 and j.updated_at operator(pg_catalog.=) pg_catalog.now()
		 order by j.id`, pgx.Identifier{schema}.Sanitize()))
	if err != nil {
		return nil, err
	}
	client := db.client(shim.ClientConfig{Schema: schema})
	for i, job := range jobs {
		if jobs[i].info, err = client.Job(ctx, job.info.ID); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

func (m *Match) fits(job *shim.JobInfo) bool {
	return (m.QueueName == "" || m.QueueName == job.QueueName) &&
		(m.JobKey == "" || m.JobKey == job.Key) &&
		(m.Priority == nil || *m.Priority == job.Priority) &&
		(m.MaxAttempts == 0 || m.MaxAttempts == job.MaxAttempts) &&
		(m.RunAt.IsZero() || m.RunAt.Round(time.Microsecond).Equal(job.RunAt)) &&
		!slices.ContainsFunc(m.Flags, func(flag string) bool { return !slices.Contains(job.Flags, flag) })
}

// describe describes the jobs that match m.
func (m *Match) describe(task string) string {
	parts := []string{fmt.Sprintf("of task %q", task)}
	add := func(given bool, format string, value any) {
		if given {
			parts = append(parts, fmt.Sprintf(format, value))
		}
	}
	if m != nil {
		payload, _ := json.Marshal(m.Payload)
		add(m.Payload != nil, "with a payload that holds %s", payload)
		add(m.QueueName != "", "in the queue %q", m.QueueName)
		add(m.JobKey != "", "with the key %q", m.JobKey)
		if m.Priority != nil {
			add(true, "with priority %d", *m.Priority)
		}
		add(m.MaxAttempts != 0, "with at most %d attempts", m.MaxAttempts)
		add(!m.RunAt.IsZero(), "to run at %s", m.RunAt.Format(time.RFC3339Nano))
		add(len(m.Flags) > 0, "with the flags %q", m.Flags)
	}
	return strings.Join(parts, " ")
}

func (f found) others() string {
	if len(f.rest) == 0 {
		return ", nor any other"
	}
	return ", only:" + list(f.rest)
}

func list(jobs []added) string {
	var b strings.Builder
	for _, job := range jobs {
		fmt.Fprintf(&b, "\n  job %d of task %q, payload %s", job.info.ID, job.info.TaskIdentifier, job.payload)
		if job.info.QueueName != "" {
			fmt.Fprintf(&b, ", queue %q", job.info.QueueName)
		}
		if job.info.Key != "" {
			fmt.Fprintf(&b, ", key %q", job.info.Key)
		}
		fmt.Fprintf(&b, ", run at %s, priority %d, at most %d attempts", job.info.RunAt.UTC().Format(time.RFC3339Nano),
			job.info.Priority, job.info.MaxAttempts)
		if len(job.info.Flags) > 0 {
			fmt.Fprintf(&b, ", flags %q", job.info.Flags)
		}
	}
	return b.String()
}

func infos(jobs []added) (infos []*shim.JobInfo) {
	for _, job := range jobs {
		infos = append(infos, job.info)
	}
	return infos
}

// reader is a database handle of pgx or of database/sql, and the client on it.
type reader struct {
	rows.Database
	client func(shim.ClientConfig) *shim.Client
}

func pgxReader(db shim.DB) reader {
	return reader{rows.OfPgx(db), func(cfg shim.ClientConfig) *shim.Client { return shim.NewClient(db, cfg) }}
}

func sqlReader(db shim.SQLDB) reader {
	return reader{rows.OfSQL(db), func(cfg shim.ClientConfig) *shim.Client { return shim.NewSQLClient(db, cfg) }}
}

// decode keeps numbers as text, so that large ones compare correctly.
func decode(text []byte) (value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

// holds reports whether a payload contains the expected one: of objects, nested ones included, at least the expected
// members; other values must be equal.
func holds(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		object, ok := got.(map[string]any)
		for name, value := range want {
			member, there := object[name]
			ok = ok && there && holds(member, value)
		}
		return ok
	case []any:
		array, ok := got.([]any)
		return ok && slices.EqualFunc(array, want, holds)
	case json.Number:
		number, ok := got.(json.Number)
		return ok && equal(number, want)
	}
	return got == want
}

func equal(a, b json.Number) bool {
	x, okX := new(big.Rat).SetString(a.String())
	y, okY := new(big.Rat).SetString(b.String())
	if !okX || !okY {
		return a == b
	}
	return x.Cmp(y) == 0
}
