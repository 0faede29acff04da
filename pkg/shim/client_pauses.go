package shim

import (
	"context"
	"time"

	"github.com/gwsql/gw/internal/rows"
	"github.com/gwsql/gw/internal/storable"
)

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
	if opts == nil {
		opts = &PauseOptions{}
	}
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
			rows.OrZero(&p.Reason), rows.OrZero(&p.Author),
			rows.Time(&p.PausedAt), rows.Time(&p.Until)}
	}, `
		select p.task, p.queue, p.limit_name, p.lane, p.reason, p.author, `+rows.TimeOf("p.paused_at")+`,
		       `+rows.TimeOf("p.until")+`
		  from S.list_pauses() as p`)
	return pauses, during(err, "list pauses")
}
