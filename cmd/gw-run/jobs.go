package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/stop"
)

const jobsHelp = `Prints the jobs that wait, run or have failed for good, lowest id first. A job that is done is not there any more.

A job is in one of four states, told by the same words in SQL, in metrics and in JSON:
  ready      due, and nobody runs it (its named queue may be busy)
  scheduled  due later, be it for the first time or after a failure
  running    claimed by a worker
  failed     out of attempts, kept until somebody acts: see gw-run retry and gw-run remove

Conditions are combined: each must be true. Without --state or the like, that is without conditions, or by --key, the
answer comes at once; other conditions may have to pass a million jobs a second to find the first that fits.

With --json a job is one object a line, with the names of the columns of list_jobs(). Payloads are shown by gw-run show.`

const jobsExamples = `  gw-run jobs --state failed --newer-than 1d
  gw-run jobs --task send_email --state ready --watch
  gw-run jobs --json --limit 1000 | jq -r 'select(.attempts > 3) | .id'`

func newJobsCommand(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	var (
		l     listing
		which selection
		p     page
		after int64
	)
	cmd := &cobra.Command{
		Use:     "jobs",
		Short:   "List jobs",
		Long:    jobsHelp,
		Example: jobsExamples,
		Args:    noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := p.check(); err != nil {
				return err
			}
			return l.run(cmd, getenv, stops, func(ctx context.Context, db *session, out, errOut io.Writer) error {
				args := append(which.arguments(), after, p.limit+1)
				found, err := db.ask(ctx, `
					select l.* from S.list_jobs(`+conditions(1)+`, null::bigint[], $7::bigint, $8::integer) as l order by l.id`, args...)
				if err != nil {
					return fmt.Errorf("list jobs: %w", err)
				}
				isCut := p.cut(&found)
				if err := printList(out, found, l.json, jobColumns); err != nil || !isCut {
					return err
				}
				jobs, err := decode[job](found.rows[len(found.rows)-1:])
				if err != nil {
					return err
				}
				return tellMore(l, out, errOut, fmt.Sprintf("--after %d", jobs[0].ID))
			})
		},
	}
	which.addFlags(cmd)
	p.addFlags(cmd)
	cmd.Flags().Int64Var(&after, "after", 0, "only jobs with a higher `id`")
	l.addFlags(cmd, getenv)
	return cmd
}

// tellMore says how to see what a list has left out; to stderr if the list is for a program.
func tellMore(l listing, out, errOut io.Writer, flag string) error {
	if l.json {
		out = errOut
	}
	_, err := fmt.Fprintf(out, "There are more: --limit shows more of them, %s those that follow.\n", flag)
	return err
}
