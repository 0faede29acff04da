package jobs

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
)

const copyHelp = `Adds a copy of a job, due now: with its task, payload, named queue, maximum of attempts, priority and flags, and all
attempts, but without its key. The job may be in any state and stays as it is. The id of the copy is printed. The exit
code is 1 if there is no such job.`

func newCopyCommand(env cli.Env) *cobra.Command {
	o := &cli.Order{Cobra: cobra.Command{
		Use: "copy ID", Short: "Add a copy of a job, due now", Long: copyHelp, Example: "  gw-run copy 17",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usagef("which job? Give one id, as gw-run jobs shows it")
			}
			_, err := jobIDs(args)
			return err
		},
	}}
	o.Call = func(ctx context.Context, db *cli.Session, args []string) (string, error) {
		id, err := cli.ActOnce[int64](ctx, db, `select S.copy_job($1::text::bigint) as value`, args[0])
		if err == nil && id == 0 {
			err = fmt.Errorf("there is no job %s; completed jobs no longer exist", args[0])
		}
		return fmt.Sprintf("Job %d is a copy of job %s.", id, args[0]), err
	}
	return o.Command(env)
}
