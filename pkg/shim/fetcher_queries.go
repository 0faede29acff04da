package shim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/pgtype/zeronull"

	"github.com/gwsql/gw/internal/rows"
	"github.com/gwsql/gw/internal/seconds"
	"github.com/gwsql/gw/pkg/shim/internal/ration"
)

// claimAnswer is the answer to a claim: jobs in the order in which they run, or when to claim again.
type claimAnswer struct {
	jobs    []*Job
	dueIn   *time.Duration // only without jobs: until the next known run_at, nil if none is known
	newMark bool           // only without jobs: the worker is marked asleep, and was not before
}

// claim claims the jobs of a plan, except those with forbidden flags. If there are none, the worker falls asleep,
// marked for as long as lasting unless that is 0.
// The same statement reads the due time. Its single now() leaves no instant between "nothing is due" and "due after
// now" in which a job could be missed. The due time is returned as a delay, so this machine's clock does not matter.
//
// Outcomes are not part of this statement. Claims and completions on two connections keep two cores of the server busy,
// while in one exchange their times would add up. A refused outcome would also undo the claim.
func (q *queries) claim(ctx context.Context, ask ration.Plan, lasting time.Duration,
	forbidden exclusions) (answer claimAnswer, err error) {
	from, args := q.batch(ask, forbidden)
	args = append(args, rows.OrNull(lasting.Seconds()))
	// The join evaluates the function when the first row is read, or not at all. The left side has one row, so the jobs
	// keep the order in which the function returns them.
	return q.readClaim(ctx, ask.Tasks, `
			with asleep as materialized (
			  select extract(epoch from f.next_run_at operator(pg_catalog.-) pg_catalog.clock_timestamp())::double precision as due_in, f.must_look_again
			    from S.fall_asleep($1::text, $2::text[],
			           $`+strconv.Itoa(len(args))+`::double precision operator(pg_catalog.*) interval '1 second') as f
			)
			select `+claimedColumns+`,
			       case when j.id is null then (select a.due_in from asleep as a) end as due_in,
			       case when j.id is null then (select a.must_look_again from asleep as a) end as must_look_again
			  from (values (1)) as always (one)
			  left join `+from+` on true`, args...)
}

// claimFrom returns the from clause of a claim, whose rows are j, and its arguments.
type claimFrom func(ask ration.Plan, forbidden exclusions) (from string, args []any)

// batch is the claimFrom of all jobs but suspects.
func (q *queries) batch(ask ration.Plan, forbidden exclusions) (from string, _ []any) {
	more, args := forbidden.argument(q.workerID, ask.Tasks, ask.Limit, forbidden.flags)
	if ask.OfQueue > 1 { // each named argument has a cost
		args = append(args, ask.OfQueue)
		more += fmt.Sprintf(", queue_batch => $%d::integer", len(args))
	}
	if ask.Beyond != nil {
		args = append(args, *ask.Beyond)
		more += fmt.Sprintf(", max_bytes => $%d::integer", len(args))
	}
	return `S.get_job_batch($1::text, $2::text[], $3::integer, $4::text[]` + more + `) as j`, args
}

// suspect is the claimFrom of one suspect: as the only job of the worker, or beside others if room was made for it
// without success.
func (q *queries) suspect(beside bool) claimFrom {
	return func(ask ration.Plan, forbidden exclusions) (from string, _ []any) {
		more, args := forbidden.argument(q.workerID, ask.Tasks, forbidden.flags, beside)
		return `S.get_job_alone($1::text, $2::text[], $3::text[], beside => $4::boolean` + more + `) as j`, args
	}
}

// claimJobs is claim without falling asleep, so that the server does not pass the rows through a join.
func (q *queries) claimJobs(ctx context.Context, of claimFrom, ask ration.Plan, forbidden exclusions) ([]*Job, error) {
	from, args := of(ask, forbidden)
	answer, err := q.readClaim(ctx, ask.Tasks, onlyJobs+from, args...)
	return answer.jobs, err
}

// makeRoom returns how long to claim nothing else so that a suspect may be claimed, 0 for not at all.
func (q *queries) makeRoom(ctx context.Context, tasks []string, forbidden exclusions) (time.Duration, error) {
	more, args := forbidden.argument(tasks, forbidden.flags)
	var wait float64
	err := q.row(ctx, &wait, `select coalesce(extract(epoch from S.make_room($1::text[], $2::text[]`+more+`)), 0)::double precision`, args...)
	return seconds.Duration(wait), err
}

// claimUnread claims one job without reading columns that may be large or damaged: the result has no payload, flags,
// key or last error. It may be nil.
func (q *queries) claimUnread(ctx context.Context, of claimFrom, ask ration.Plan,
	forbidden exclusions) (job *Job, err error) {
	from, args := of(ask, forbidden)
	err = q.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		read := &Job{worker: q.worker, hold: &hold{}}
		var task, queue zeronull.Text
		err := conn.QueryRow(ctx, q.text(`
			select j.id, j.task_identifier, j.queue_name, j.attempts, j.max_attempts, j.lease from `+from), args...).
			Scan(&read.ID, &task, &queue, &read.Attempts, &read.MaxAttempts, &read.Lease)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		read.TaskIdentifier, read.QueueName = string(task), string(queue)
		read.hold.lease.Store(read.Lease)
		job = read
		return nil
	})
	return job, err
}

// readHeld reads a job that claimUnread has claimed; it returns none if the worker no longer holds it.
func (q *queries) readHeld(ctx context.Context, job *Job) ([]*Job, error) {
	answer, err := q.readClaim(ctx, []string{job.TaskIdentifier},
		onlyJobs+`S._gw_held_jobs($1::text, $2::bigint[], $3::bigint) as j`, q.workerID, []int64{job.ID}, job.Lease)
	return answer.jobs, err
}

const claimedColumns = `
	j.id, j.task_identifier, j.payload, j.queue_name, j.priority, j.run_at, j.attempts, j.max_attempts, j.key, j.flags,
	j.lease, j.created_at, j.last_error, j.revision, j.streak`

const onlyJobs = `select ` + claimedColumns + `, null::double precision, null::boolean from `

func (q *queries) readClaim(ctx context.Context, tasks []string, sql string,
	args ...any) (answer claimAnswer, err error) {
	err = q.callWhileHeard(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		answer = claimAnswer{}
		found, err := conn.Query(ctx, q.text(sql), args...)
		if err != nil {
			return err
		}
		defer found.Close()
		reader := newClaimReader(q, tasks)
		for found.Next() {
			if err := reader.read(found, &answer); err != nil {
				return err
			}
		}
		now := time.Now() // the transfer time of the rows is not part of the jobs' waiting time
		for _, job := range answer.jobs {
			job.hold.claimed = now
		}
		return found.Err()
	})
	return answer, err
}

// slabSize is the number of jobs that share an allocation. It is small, because one retained job retains all of them.
const slabSize = 16

type heldJob struct {
	job  Job
	hold hold
}

// claimReader reads the rows of a claim into variables of its own, so that a job needs little more memory than its
// data.
type claimReader struct {
	queries *queries
	names   map[string]string // names of tasks, each once in memory
	slab    []heldJob
	row     claimedRow
	empty   struct {
		dueIn   pgtype.Float8
		newMark pgtype.Bool
	}
	columns []any
}

type claimedRow struct {
	id, lease                       zeronull.Int8
	task, queue, key, lastError     pgtype.DriverBytes // valid until the next row
	payload, flags                  pgtype.DriverBytes
	priority, attempts, maxAttempts zeronull.Int2
	revision                        zeronull.Int4
	runAt, createdAt                pgtype.Timestamptz // may be infinite
	streak                          zeronull.Int4
}

func newClaimReader(q *queries, tasks []string) *claimReader {
	r := &claimReader{queries: q, names: make(map[string]string, len(tasks))}
	for _, task := range tasks {
		r.names[task] = task
	}
	row := &r.row
	r.columns = []any{
		&row.id, &row.task, &row.payload, &row.queue, &row.priority, &row.runAt, &row.attempts, &row.maxAttempts,
		&row.key, &row.flags, &row.lease, &row.createdAt, &row.lastError, &row.revision, &row.streak, &r.empty.dueIn,
		&r.empty.newMark,
	}
	return r
}

// read adds one row to the answer: a job, or the due time of an empty claim.
func (r *claimReader) read(found pgx.Rows, answer *claimAnswer) error {
	if err := found.Scan(r.columns...); err != nil {
		return err
	}
	row := &r.row
	if row.id == 0 {
		if r.empty.dueIn.Valid {
			answer.dueIn = new(seconds.Duration(r.empty.dueIn.Float64)) // the year 9999 exceeds a time.Duration
		}
		answer.newMark = r.empty.newMark.Bool
		return nil
	}
	if len(r.slab) == 0 {
		r.slab = make([]heldJob, slabSize)
	}
	held := &r.slab[0]
	r.slab = r.slab[1:]
	held.hold.bytes = int64(len(row.payload) + len(row.queue) + len(row.key) + len(row.flags) + len(row.lastError))
	held.hold.lease.Store(int64(row.lease))
	held.hold.streakID = int32(row.streak)
	held.job = Job{
		ID: int64(row.id), TaskIdentifier: r.names[string(row.task)], Payload: bytes.Clone(row.payload),
		QueueName: string(row.queue), Priority: int(row.priority), RunAt: row.runAt.Time, Attempts: int(row.attempts),
		MaxAttempts: int(row.maxAttempts), Key: string(row.key), Lease: int64(row.lease),
		CreatedAt: row.createdAt.Time, LastError: string(row.lastError), Revision: int(row.revision),
		worker: r.queries.worker, hold: &held.hold,
	}
	if row.flags != nil {
		var err error
		if held.job.Flags, err = rows.KeysOf(row.flags); err != nil {
			held.hold.unreadable = fmt.Errorf("flags are not an object: %w", err)
		}
	}
	answer.jobs = append(answer.jobs, &held.job)
	return nil
}

// readCarried reads the values stored with jobs. If that fails, the jobs run without them.
func (q *queries) readCarried(ctx context.Context, jobs []*Job) {
	if q.worker.propagator == nil {
		return
	}
	byID := make(map[int64]*Job, len(jobs))
	ids, revisions := make([]int64, len(jobs)), make([]int32, len(jobs))
	for i, job := range jobs {
		byID[job.ID] = job
		ids[i], revisions[i] = job.ID, int32(job.Revision)
	}
	err := q.call(ctx, func(ctx context.Context, conn *pgx.Conn) error {
		rows, err := conn.Query(ctx, q.text(`
			select c.job_id, c.context::text from S._gw_job_contexts($1::bigint[], $2::integer[]) as c`), ids,
			revisions)
		if err != nil {
			return err
		}
		var id int64
		var text string
		_, err = pgx.ForEachRow(rows, []any{&id, &text}, func() error {
			return json.Unmarshal([]byte(text), &byID[id].carried)
		})
		return err
	})
	if err != nil {
		q.worker.ownLogger().Warn("contexts of jobs could not be read, jobs run without them", "error", err)
	}
}

func (j *Job) within(ctx context.Context) context.Context {
	if j.carried == nil {
		return ctx
	}
	return j.worker.propagator.Extract(ctx, j.carried)
}
