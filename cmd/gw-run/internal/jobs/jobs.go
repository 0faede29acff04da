package jobs

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/operate"
)

const jobsHelp = `Prints the jobs that are waiting, running or permanently failed, lowest id first. Completed jobs no longer exist.

A job has one of four states, with the same names in SQL, in metrics and in JSON:
  ready      due and not claimed (its named queue may be locked)
  scheduled  due later, for the first time or for a retry
  running    claimed by a worker
  failed     out of attempts, kept until it is retried or deleted: see gw-run retry and gw-run remove

A job has to match all conditions. Without conditions, or by --key, the command answers at once; other conditions may
have to read a million jobs per second to find the first match.

With --json a job is one object per line, with the column names of list_jobs(). gw-run show prints payloads.`

const jobsExamples = `  gw-run jobs --state failed --newer-than 1d
  gw-run jobs --task send_email --state ready --watch
  gw-run jobs --json --limit 1000 | jq -r 'select(.attempts > 3) | .id'`

func newJobsCommand(env cli.Env) *cobra.Command {
	var (
		which selection
		p     cli.Pages
		after int64
	)
	cmd := &cobra.Command{
		Use:     "jobs",
		Short:   "List jobs",
		Long:    jobsHelp,
		Example: jobsExamples,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.Run(cmd, env, func(ctx context.Context, db *cli.Session, out, errOut io.Writer) error {
				args := append(which.Arguments(), after, p.Limit+1)
				found, err := db.Ask(ctx, `
					select l.* from S.list_jobs(`+operate.Conditions(1)+`, null::bigint[], $7::bigint, $8::integer) as l order by l.id`, args...)
				if err != nil {
					return fmt.Errorf("list jobs: %w", err)
				}
				return cli.PrintPage(p, found, jobColumns, func(last job) string { return fmt.Sprint(last.ID) }, out, errOut)
			})
		},
	}
	which.addFlags(cmd)
	p.AddLimit(cmd)
	cmd.Flags().Int64Var(&after, "after", 0, "only jobs with a higher `id`")
	p.AddFlags(cmd, env.Getenv)
	return cmd
}
