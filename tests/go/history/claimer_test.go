package history

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

const (
	claimColumns = `
		j.id, j.key, j.revision, j.payload::text, j.priority, (extract(epoch from j.run_at) * 1000000)::bigint, j.attempts,
		j.max_attempts, false, j.queue_name, j.task_identifier, j.flags is not null, j.lease`

	getJob = "select " + claimColumns + `
		  from graphile_worker.get_job($1::text, $2::text[], forbidden_flags => $3::text[]) as j`

	getJobBatch = "select " + claimColumns + `
		  from graphile_worker.get_job_batch($1::text, $2::text[], $4::integer, $3::text[], queue_batch => $5::integer) as j`

	// The jobs that a worker holds, in the form of the answer of a claim.
	heldBy = "select " + claimColumns + `
		  from (select j.*, q.queue_name, t.identifier as task_identifier, graphile_worker._gw_lease(j.locked_at) as lease
		          from graphile_worker._private_jobs as j
		          left join graphile_worker._private_job_queues as q on q.id = j.job_queue_id
		          left join graphile_worker._private_tasks as t on t.id = j.task_id
		         where j.locked_by = $1) as j`
)

// claimer is a worker that makes direct calls. In addition to the leases that it believes to hold, it keeps some that
// have ended, to report outcomes late.
type claimer struct {
	*session
	worker string
	lives  int
	held   []lease
	late   []lease
	known  map[lease]bool // all leases since the last restart
	idle   bool           // the last claim returned nothing, and no outcome was reported since
}

// work claims jobs, reports outcomes in time and late, crashes, and restarts with the same or another worker id.
func (r *run) work(ctx context.Context, s *session) error {
	s.mortal = s.number%2 == 0
	c := &claimer{session: s}
	c.reborn()
	for !r.over() {
		var err error
		if len(c.held) == 0 || !c.idle && (len(c.held) < 5 || c.odds(4)) {
			err = c.claim(ctx)
		} else {
			err = c.report(ctx)
		}
		if err != nil {
			return err
		}
		if c.odds(200) {
			c.reborn()
		}
		// Its jobs are freed between two claims as if it were dead; its outcomes are then too late.
		if c.odds(100) {
			e, calls := c.freeLeases(c.worker)
			if _, err := c.record(ctx, e, calls...); err != nil {
				return err
			}
		}
	}
	r.bury(c.worker)
	return nil
}

// reborn restarts the worker; no outcome of its previous leases is reported.
func (c *claimer) reborn() {
	if c.worker != "" {
		c.run.bury(c.worker)
	}
	c.lives++
	c.worker = fmt.Sprintf("worker %d.%d", c.number, c.lives)
	c.held, c.late, c.known = nil, nil, map[lease]bool{}
}

func (c *claimer) claim(ctx context.Context) error {
	e := &event{kind: claim, worker: c.worker, size: pick(c.session, []int{1, 1, 2, 5, 10, 30}), noFlagged: c.odds(5)}
	if c.odds(4) {
		e.tasks = tasks[:1+c.IntN(len(tasks))]
	}
	var flags []string
	if e.noFlagged {
		flags = []string{"flag"}
	}
	e.ofQueue = pick(c.session, []int{1, 1, 2, 30})
	call := statement{getJobBatch, []any{c.worker, e.tasks, flags, e.size, e.ofQueue}}
	if e.size == 1 && c.odds(2) {
		call = statement{getJob, []any{c.worker, e.tasks, flags}}
	}
	rows, err := c.record(ctx, e, call)
	if err != nil {
		return err
	}
	if e.code == unknown {
		return c.recover(ctx, e)
	}
	c.idle = len(rows) == 0
	return c.take(e, rows)
}

// take keeps the leases in the answer of a claim, or the new ones among those that a worker holds.
func (c *claimer) take(e *event, rows [][][]byte) error {
	for _, columns := range rows {
		r, err := readClaim(columns)
		if err != nil {
			return fmt.Errorf("read the answer of %s: %w", e, err)
		}
		l := lease{c.worker, r.id, r.leasedAt}
		if c.known[l] && e.torn {
			continue
		}
		e.rows = append(e.rows, r)
		c.held = append(c.held, l)
		c.known[l] = true
	}
	return nil
}

// recover determines the result of a claim whose answer was lost. The connection has ended, and no other session frees
// a worker's jobs during its calls, so it still holds all that it claimed.
func (c *claimer) recover(ctx context.Context, e *event) error {
	rows, err := c.query(ctx, heldBy, c.worker)
	if err != nil {
		return err
	}
	e.code, e.torn = done, true
	if err := c.take(e, rows); err != nil {
		return err
	}
	if e.end, err = c.now(ctx); err != nil {
		return err
	}
	if c.odds(2) {
		c.reborn()
	}
	return nil
}

const retryAt = "(extract(epoch from f.run_at) * 1000000)::bigint"

// forms of an outcome: for one job, and for many.
var outcomes = map[kind][2]string{
	complete: {
		"select $2::bigint where graphile_worker.complete_job($1::text, $2::bigint, $3::bigint)",
		"select c.id from graphile_worker.complete_job_batch($1::text, $2::bigint[], $3::bigint[]) as c (id)",
	},
	giveBack: {
		"select r.id from graphile_worker.return_job($1::text, $2::bigint, $3::bigint, $4::interval) as r",
		"select r.id from graphile_worker.return_job_batch($1::text, $2::bigint[], $3::bigint[], $4::interval) as r",
	},
	fail: {
		"select f.id, " + retryAt + " from graphile_worker.fail_job($1::text, $2::bigint, 'failed', $3::bigint, retry_in => $4::interval, permanent => $5::boolean) as f",
		"select f.id, " + retryAt + " from graphile_worker.fail_job_batch($1::text, $2::text::json) as f",
	},
}

// report reports an outcome of one job or of several, some of which may have ended before.
func (c *claimer) report(ctx context.Context) error {
	c.idle = false
	c.Shuffle(len(c.held), func(i, j int) { c.held[i], c.held[j] = c.held[j], c.held[i] })
	count := 1
	if c.odds(2) {
		count = 1 + c.IntN(len(c.held))
	}
	named := slices.Clone(c.held[:count])
	c.held = slices.Delete(c.held, 0, count)
	if len(c.late) > 0 && c.odds(5) {
		// Never together with a lease of the same job: one call names a job once.
		old := pick(c.session, c.late)
		named = slices.DeleteFunc(named, func(l lease) bool {
			if l.job == old.job {
				c.held = append(c.held, l)
			}
			return l.job == old.job
		})
		named = append(named, old)
	}
	// A job may have been claimed again by the same worker.
	slices.SortStableFunc(named, func(a, b lease) int { return int(a.job - b.job) })
	for i := len(named) - 1; i > 0; i-- {
		if named[i].job == named[i-1].job {
			c.held = append(c.held, named[i])
			named = slices.Delete(named, i, i+1)
		}
	}

	kinds := []kind{complete, complete, complete, complete, complete, complete, fail, giveBack, giveBack}
	if c.run.profile.deciders > 0 { // which keep back-offs
		kinds = []kind{complete, complete, fail, fail, giveBack}
	}
	how := pick(c.session, kinds)
	e := &event{kind: how, worker: c.worker, leases: named, retryAt: map[int64]micros{}}
	rows, err := c.record(ctx, e, c.outcome(e))
	if err != nil {
		return err
	}
	for _, columns := range rows {
		id, err := strconv.ParseInt(string(columns[0]), 10, 64)
		if err != nil {
			return fmt.Errorf("read the answer of %s: %w", e, err)
		}
		e.touched = append(e.touched, id)
		if how == fail {
			at, err := strconv.ParseInt(string(columns[1]), 10, 64)
			if err != nil {
				return fmt.Errorf("read the answer of %s: %w", e, err)
			}
			e.retryAt[id] = micros(at)
		}
	}
	switch e.code {
	case done, unknown:
		c.late = append(c.late, named...)
		c.late = slices.Delete(c.late, 0, max(0, len(c.late)-30))
		if e.code == unknown && c.odds(2) {
			c.reborn()
		}
	default:
		c.held = append(c.held, named...)
	}
	return nil
}

// outcome returns the call that reports the outcome.
func (c *claimer) outcome(e *event) statement {
	ids, leases := make([]int64, len(e.leases)), make([]int64, len(e.leases))
	for i, l := range e.leases {
		ids[i], leases[i] = l.job, int64(l.at)
	}
	forms := outcomes[e.kind]
	single := len(ids) == 1 && c.odds(2)
	permanent := c.odds(5)
	var delay any
	if c.odds(3) {
		delay, e.delayed = fmt.Sprintf("%d milliseconds", c.IntN(100)), true
	}
	var args []any
	switch {
	case e.kind == fail && single:
		args = []any{e.worker, ids[0], leases[0], delay, permanent}
	case e.kind == fail:
		var failures []string
		for i := range ids {
			failures = append(failures, fmt.Sprintf(`{"id": %d, "lease": %d, "retry_in": 0.05, "permanent": %t}`,
				ids[i], leases[i], permanent))
		}
		args = []any{e.worker, "[" + strings.Join(failures, ", ") + "]"}
	case single:
		args = []any{e.worker, ids[0], leases[0], delay}
	default:
		args = []any{e.worker, ids, leases, delay}
	}
	if e.kind == complete {
		args = args[:3]
	}
	if single {
		return statement{forms[0], args}
	}
	return statement{forms[1], args}
}

// readClaim reads the columns of a claim.
func readClaim(columns [][]byte) (row, error) {
	r, err := readRow(columns)
	if err != nil {
		return row{}, err
	}
	r.queue, r.task, r.flagged = string(columns[9]), string(columns[10]), string(columns[11]) == "t"
	at, err := strconv.ParseInt(string(columns[12]), 10, 64)
	r.leasedAt = micros(at)
	return r, err
}
