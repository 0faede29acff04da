package gwui

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// recurringAct is an action of an operator on a schedule.
type recurringAct struct {
	Name, Title, Button string
	function            string
	effect              string // with %s for the name
	did                 string // what it has done, with %s for the name
	call                string // returns whether there is such a schedule, and the id of a job that it has added
}

var recurringActs = []recurringAct{
	{Name: "run", Title: "Run a schedule now", Button: "Run now", function: "cron_add_job",
		effect: "A job of %s is added now, with the task, payload and options of the schedule. Its next runs do not change.",
		call:   `select r.job_id is not null as did, r.job_id from S.cron_add_job($1::text) as r (job_id)`},
	{Name: "pause", Title: "Pause a schedule", Button: "Pause", function: "cron_pause",
		effect: "The recurring job %s adds no jobs until it is resumed.",
		did:    "Paused the schedule %s.",
		call:   `select r.did from S.cron_pause($1::text) as r (did)`},
	{Name: "resume", Title: "Resume a schedule", Button: "Resume", function: "cron_resume",
		effect: "The recurring job %s adds jobs again. Its missed runs are not backfilled.",
		did:    "Resumed the schedule %s.",
		call:   `select r.did from S.cron_resume($1::text) as r (did)`},
}

// RecurringActs returns the actions that the viewer may take on a schedule.
func (q *request) RecurringActs(isPaused bool) []recurringAct {
	var acts []recurringAct
	for _, a := range recurringActs {
		if q.Can(a.function) && (a.Name == "run" || (a.Name == "resume") == isPaused) {
			acts = append(acts, a)
		}
	}
	return acts
}

// findRecurringAct returns an action of this name, if the viewer may take it.
func (q *request) findRecurringAct(name string) (recurringAct, error) {
	for _, a := range recurringActs {
		if a.Name == name {
			return a, q.needs(a.function)
		}
	}
	return recurringAct{}, errNoPage
}

func confirmRecurring(_ context.Context, _ *Console, q *request) (*view, error) {
	a, err := q.findRecurringAct(q.query.Get("act"))
	if err != nil {
		return nil, err
	}
	name := q.query.Get("name")
	return q.asks("recurring", question{Title: a.Title, Text: fmt.Sprintf(a.effect, printable(name)), Button: a.Button, Back: "recurring"}), nil
}

// actOnRecurring carries out an action on a schedule, and returns the page of the job that it has added, if any.
func actOnRecurring(ctx context.Context, c *Console, q *request, _ url.Values) (outcome, error) {
	a, err := q.findRecurringAct(q.query.Get("act"))
	if err != nil {
		return outcome{}, err
	}
	name := q.query.Get("name")
	done, err := once[struct {
		Did bool  `json:"did"`
		Job int64 `json:"job_id"`
	}](ctx, c, q, a.call, name)
	switch {
	case err != nil:
		return outcome{}, err
	case len(done.Rows) != 1 || !done.Rows[0].Did:
		return outcome{}, statusError{http.StatusNotFound, fmt.Sprintf("There is no schedule %s.", printable(name))}
	case done.Rows[0].Job != 0:
		return outcome{fmt.Sprintf("jobs/%d", done.Rows[0].Job), fmt.Sprintf("The schedule %s has added this job.", printable(name))}, nil
	}
	return outcome{"recurring", fmt.Sprintf(a.did, printable(name))}, nil
}
