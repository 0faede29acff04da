package gwui

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gwsql/gw/internal/inspect"
)

// event is something in the life of a job.
type event struct {
	At     inspect.Moment
	State  string // the state or the outcome that it led to, if any
	What   string
	Worker string
	Error  string
	IsNext bool // it has not happened yet
}

// timelineData is the life of a job.
type timelineData struct {
	Events []event
	Now    time.Time
	Kept   attemptsData
}

// timeline returns the life of a job, oldest first: from the job itself, its history, and the audit, as far as the role may read them.
func (c *Console) timeline(ctx context.Context, q *request) (d timelineData, err error) {
	jobs, err := c.readJob(ctx, q.may, q.id)
	if err != nil {
		return d, err
	}
	d.Now = jobs.Now
	if q.may["job_history"] {
		if d.Kept, err = c.showAttempts(ctx, q); err != nil {
			return d, err
		}
	}
	for _, a := range d.Kept.Rows {
		e := event{At: a.EndedAt, State: a.Outcome, Worker: a.WorkerID, Error: a.Error}
		if !a.StartedAt.IsNull() {
			e.What = fmt.Sprintf("attempt %s, ran %s", a.Tried(), a.Ran())
		}
		d.Events = append(d.Events, e)
	}
	if len(jobs.Rows) == 0 && len(d.Kept.Rows) == 0 {
		return timelineData{}, nil // the page says that there is no such job
	}
	acts, err := c.actsOn(ctx, q)
	for _, a := range acts.Rows {
		d.Events = append(d.Events, event{At: a.At, What: fmt.Sprintf("%s by %s", a.Act, printable(a.Who())), Error: a.Subject})
	}
	var next []event
	if len(jobs.Rows) > 0 {
		d.Events = append(d.Events, event{At: jobs.Rows[0].CreatedAt, What: "added"})
		next = d.addPresent(jobs.Rows[0])
	} else {
		d.Now = d.Kept.Now
		d.Events = append(d.Events, event{At: d.Kept.Rows[0].CreatedAt, What: "added"})
	}
	slices.SortStableFunc(d.Events, func(a, b event) int { return a.At.Compare(b.At.Time) })
	d.Events = append(d.Events, next...)
	return d, err
}

// addPresent adds what the job itself tells, and returns what comes next.
func (d *timelineData) addPresent(j job) (next []event) {
	left := max(0, j.MaxAttempts-j.Attempts)
	switch j.State {
	case "running":
		claimed := event{At: j.LockedAt, State: "running", What: fmt.Sprintf("attempt %s, claimed", j.Tried()), Worker: j.LockedBy}
		if j.IsCanceled() {
			claimed.What = "claimed" // which attempt it is, is not stored any more
		}
		d.Events = append(d.Events, claimed)
		switch {
		case j.IsCanceled():
			return []event{{IsNext: true, What: "Its cancellation is requested: the worker ends it after its next heartbeat."}}
		case left == 0:
			return []event{{IsNext: true, What: "If this attempt fails, no attempt is left."}}
		}
		return []event{{IsNext: true, What: "If this attempt fails, it is retried: " + plural(left, "attempt") + " left."}}
	case "failed":
		if len(d.Kept.Rows) == 0 {
			d.Events = append(d.Events, event{At: j.UpdatedAt, State: "failed", What: "attempt " + j.Tried(), Error: j.LastError})
		}
		return []event{{IsNext: true, What: "It stays until it is retried or removed."}}
	}
	if j.LastError != "" && j.Attempts > 0 && len(d.Kept.Rows) == 0 {
		d.Events = append(d.Events, event{At: j.UpdatedAt, What: "last changed, after attempt " + j.Tried(), Error: j.LastError})
	}
	if j.State == "scheduled" {
		return []event{{At: j.RunAt, State: "scheduled", IsNext: true, What: "is due"}}
	}
	if j.RunAt.Sub(j.CreatedAt.Time) > time.Second {
		d.Events = append(d.Events, event{At: j.RunAt, State: "ready", What: "due"})
	}
	return []event{{IsNext: true, What: fmt.Sprintf("It waits for a worker, for attempt %d/%d.", j.Attempts+1, j.MaxAttempts)}}
}

// actsOn returns the last acts of operators on a job, oldest first; none if the role may not read them.
func (c *Console) actsOn(ctx context.Context, q *request) (answer[pastAct], error) {
	if !q.may["list_audit"] {
		return answer[pastAct]{}, nil
	}
	acts, err := readCached[pastAct](ctx, c, fmt.Sprintf("audit of job %d", q.id),
		`select a.* from S.list_audit(max_rows => 20, job_id => $1::bigint) as a`, q.id)
	acts.Rows = slices.Clone(acts.Rows)
	slices.Reverse(acts.Rows)
	return acts, err
}
