package shim

import (
	"cmp"
	"context"
	"time"

	"github.com/gwsql/gw/internal/rows"
	"github.com/gwsql/gw/internal/storable"
)

// Limit limits how many jobs run at once, or start per time, in all workers together. A zero value means no limit; at
// least one of MaxRunning, TotalRunning, Rate and Fair is required.
type Limit struct {
	Name string

	// Tasks are the tasks to whose jobs the limit applies. Default: all.
	Tasks []string

	// By assigns each job to a lane, and the numbers apply to each lane: "flag:NAME" or "payload:FIELD". A job without
	// the flag or field is not limited. Default: one lane for all jobs.
	By string

	MaxRunning   int           // how many jobs of a lane run at once
	TotalRunning int           // how many jobs of all lanes run at once
	Rate         int           // how many jobs of a lane start within Per
	Per          time.Duration // set it together with Rate
	Burst        int           // how many jobs of a lane start at once. Default: Rate

	// Fair makes the lanes take turns: among jobs of equal priority the lane with the fewest running jobs comes first,
	// then the lane that has started no job for the longest time. It requires By.
	Fair bool

	// Strict is for how long a job of a worker that seems dead keeps its slots after another worker may run it, because
	// the first worker may only have stopped for a while and its handler may still run. It requires MaxRunning or
	// TotalRunning. Default: 0
	Strict time.Duration
}

// SetLimit creates a limit, or replaces the limit of this name. Later claims obey it. Workers of Graphile Worker do not
// see jobs to which limits apply, unless they are in a named queue. An invalid limit has the code GWLVA.
func (c *Client) SetLimit(ctx context.Context, limit Limit) error {
	err := c.order(ctx, `
		select S.set_limit($1::text, $2::text[], $3::text, $4::integer, $5::integer, $6::integer,
		                   `+rows.Microseconds("$7")+`, $8::integer, $9::boolean, `+rows.Microseconds("$10")+`)::text`,
		limit.Name, rows.TextArrayOrNull(limit.Tasks), rows.OrNull(limit.By), rows.OrNull(limit.MaxRunning),
		rows.OrNull(limit.TotalRunning), rows.OrNull(limit.Rate), rows.OrNull(limit.Per.Microseconds()),
		rows.OrNull(limit.Burst), limit.Fair, rows.OrNull(limit.Strict.Microseconds()))
	return during(err, "set limit %q", limit.Name)
}

// DropLimit drops a limit. If there is none of this name, the error has the code GWLNM.
func (c *Client) DropLimit(ctx context.Context, name string) error {
	return during(c.order(ctx, `select S.drop_limit($1::text)::text`, name), "drop limit %q", name)
}

// LaneNumbers override the numbers of a limit for one lane; a zero value leaves the number of the limit.
type LaneNumbers struct {
	MaxRunning int
	Rate       int
	Per        time.Duration // set it together with Rate
	Burst      int           // default: Rate
}

// OverrideLane overrides the numbers of a limit for one of its lanes, such as a higher maximum for one customer. The
// zero value of numbers removes the override. If there is no such limit with several lanes, the error has the code
// GWLNM.
func (c *Client) OverrideLane(ctx context.Context, limit, lane string, numbers LaneNumbers) error {
	err := c.order(ctx, `
		select S.override_lane($1::text, $2::text, $3::integer, $4::integer,
		                       `+rows.Microseconds("$5")+`, $6::integer)::text`,
		limit, lane, rows.OrNull(numbers.MaxRunning), rows.OrNull(numbers.Rate),
		rows.OrNull(numbers.Per.Microseconds()), rows.OrNull(numbers.Burst))
	return during(err, "override lane %q of limit %q", lane, limit)
}

// OpenLane opens, before its time, a lane of a limit that a worker has closed by [RateLimited]; without a lane, all
// closed lanes of the limit. It returns the number of opened lanes. If there is no such limit, the error has the code
// GWLNM.
func (c *Client) OpenLane(ctx context.Context, limit, lane string) (opened int64, err error) {
	opened, err = singleValue[int64](ctx, c, `select S.open_lane($1::text, $2::text)`, limit, rows.OrNull(lane))
	return opened, during(err, "open lane %q of limit %q", lane, limit)
}

// LimitInfo is a limit with its current state.
type LimitInfo struct {
	Limit
	Lanes       int64 // the lanes that exist
	Running     int64 // the jobs that run
	FullLanes   int64 // the lanes that run their maximum of jobs
	ClosedLanes int64 // the lanes that a worker has closed, because a service accepts no more requests
}

// Limits returns the limits, by name.
func (c *Client) Limits(ctx context.Context) ([]LimitInfo, error) {
	limits, err := listed(ctx, c, func(l *LimitInfo) []any {
		return []any{&l.Name, rows.JSON(&l.Tasks), rows.OrZero(&l.By), rows.OrZero(&l.MaxRunning),
			rows.OrZero(&l.TotalRunning), rows.OrZero(&l.Rate), rows.Span(&l.Per), rows.OrZero(&l.Burst), &l.Fair,
			rows.Span(&l.Strict), &l.Lanes, &l.Running, &l.FullLanes, &l.ClosedLanes}
	}, `
		select l.name, pg_catalog.array_to_json(l.tasks)::text, l.by, l.max_running, l.total_running, l.rate,
		       `+rows.SpanOf("l.per")+`, l.burst, l.fair, `+rows.SpanOf("l.strict")+`, l.lanes, l.running, l.full_lanes,
		       l.closed_lanes
		  from S.list_limits(count_waiting => false) as l
		 order by l.name`)
	return limits, during(err, "list limits")
}

// Reason is a reason why a job does not run, or "next" or "behind" if there is none.
type Reason struct {
	Reason         string    // such as "future", "paused" or "full"; see the SQL function why
	Detail         string    // what it depends on
	Until          time.Time // when it ends, zero if that is not known
	BlockingJobIDs []int64   // the jobs that hold the job back, ten at most
	Remedy         string
}

// Why returns why a job does not run: one element for each reason, or one with the reason "next" or "behind" if nothing
// holds the job back. If there is no such job, the error matches [ErrJobNotFound].
func (c *Client) Why(ctx context.Context, id int64) ([]Reason, error) {
	reasons, err := listed(ctx, c, func(r *Reason) []any {
		return []any{&r.Reason, rows.OrZero(&r.Detail), rows.Time(&r.Until), rows.JSON(&r.BlockingJobIDs), &r.Remedy}
	}, `
		select w.reason, w.detail, `+rows.TimeOf("w.until")+`,
		       pg_catalog.array_to_json(w.blocking_job_ids)::text, w.remedy
		  from S.why($1::bigint) as w`, id)
	if err == nil && reasons == nil {
		err = ErrJobNotFound
	}
	return reasons, during(err, "ask why job %d does not run", id)
}

// PauseTarget is the target of a pause: the jobs of a task, the jobs in a named queue, a limit, one lane of a limit, or
// everything if all fields are empty. Task, Queue and Limit exclude each other.
type PauseTarget struct {
	Task  string
	Queue string
	Limit string
	Lane  string // of Limit
}

func (t PauseTarget) arguments() []any {
	return []any{rows.OrNull(t.Task), rows.OrNull(t.Queue), rows.OrNull(t.Limit), rows.OrNull(t.Lane)}
}

// PauseOptions configure [Client.Pause].
type PauseOptions struct {
	Reason string         // shown by [Client.Why] and [Client.Pauses]
	Until  time.Time      // the end of the pause; zero for none
	For    *time.Duration // the same as a time from now, in place of Until
}

// Pause keeps jobs from starting until [Client.Resume], or until the end in opts, which may be nil. Running jobs
// continue. The pause survives restarts. A second pause of the same target changes its reason and end. An invalid
// target or end has the code GWLVA, an unknown limit GWLNM.
func (c *Client) Pause(ctx context.Context, target PauseTarget, opts *PauseOptions) error {
	opts = cmp.Or(opts, &PauseOptions{})
	timing, err := c.timing(opts.Until, opts.For, time.Now())
	if err == nil {
		err = c.order(ctx, `
			select S.pause($1::text, $2::text, $3::text, $4::text, $5::text,
			               coalesce($6::timestamptz, pg_catalog.now() operator(pg_catalog.+) `+rows.Microseconds("$7")+`))::text`,
			append(target.arguments(), storable.Text(opts.Reason), rows.OrNil(timing.at), rows.OrNil(timing.in))...)
	}
	return during(err, "pause")
}

// Resume ends a pause; due jobs start at once. It returns whether there was such a pause.
func (c *Client) Resume(ctx context.Context, target PauseTarget) (wasPaused bool, err error) {
	wasPaused, err = singleValue[bool](ctx, c, `select S.resume($1::text, $2::text, $3::text, $4::text)`,
		target.arguments()...)
	return wasPaused, during(err, "resume")
}

// PauseInfo is a pause in force.
type PauseInfo struct {
	PauseTarget
	Reason   string
	Author   string // the role that paused
	PausedAt time.Time
	Until    time.Time // zero without an end
}

// Pauses returns the pauses in force, the oldest first.
func (c *Client) Pauses(ctx context.Context) ([]PauseInfo, error) {
	pauses, err := listed(ctx, c, func(p *PauseInfo) []any {
		return []any{rows.OrZero(&p.Task), rows.OrZero(&p.Queue), rows.OrZero(&p.Limit), rows.OrZero(&p.Lane),
			rows.OrZero(&p.Reason), rows.OrZero(&p.Author), rows.Time(&p.PausedAt), rows.Time(&p.Until)}
	}, `
		select p.task, p.queue, p.limit_name, p.lane, p.reason, p.author, `+rows.TimeOf("p.paused_at")+`,
		       `+rows.TimeOf("p.until")+`
		  from S.list_pauses() as p`)
	return pauses, during(err, "list pauses")
}
