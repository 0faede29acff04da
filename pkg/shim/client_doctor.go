package shim

import (
	"context"

	"github.com/gwsql/gw/internal/rows"
)

// Finding is a problem of the queue that doctor reports.
type Finding struct {
	Severity string // critical: jobs cannot be added or run, or soon cannot; warning: it costs time or space, or jobs wait; info
	Finding  string // what kind of problem it is
	Subject  string // what has it, such as the name of a task
	Detail   string // what its effect is
	Remedy   string // what to do
	Command  string // the remedy as one statement or command, empty if it is not one
}

// Doctor returns the current problems of the queue, the most severe first. It changes nothing, and its cost is bounded
// however many jobs there are; a bad case takes a second.
func (c *Client) Doctor(ctx context.Context) ([]Finding, error) {
	findings, err := listed(ctx, c, func(f *Finding) []any {
		return []any{&f.Severity, &f.Finding, &f.Subject, &f.Detail, &f.Remedy, rows.OrZero(&f.Command)}
	}, `select d.severity, d.finding, d.subject, d.detail, d.remedy, d.command from S.doctor() as d`)
	return findings, during(err, "ask doctor")
}
