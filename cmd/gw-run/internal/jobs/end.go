package jobs

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/operate"
	"github.com/gwsql/gw/internal/statement"
)

const cancelHelp = `Cancels jobs, running ones included: they fail permanently, with the --reason as their last error, and stay in the
queue as failed until they are retried or deleted. The worker of a running job ends its handler within five seconds
(setting beat_every): a program gets SIGTERM, an HTTP request is aborted, an SQL statement is canceled. If the handler
completes the job nevertheless, the job is completed. Workers without heartbeats, such as Graphile Worker's for
Node.js, run the job to its end, but it does not run again.

Failed jobs are skipped. gw-run fail, complete and remove skip running jobs.`

const cancelExamples = `  gw-run cancel 17 --reason 'wrong customer'
  gw-run cancel --task import --state running`

func newCancelCommand(env cli.Env) *cobra.Command {
	var reason string
	c := &change{
		cobra:   cobra.Command{Use: "cancel [ID...]", Short: "Cancel jobs, running ones included", Long: cancelHelp, Example: cancelExamples},
		prepare: func() (operate.Act, error) { return operate.Cancel(statement.OrNull(reason)), nil },
	}
	c.cobra.Flags().StringVar(&reason, "reason", "", "`text` for the last error (default: Canceled)")
	return c.command(env)
}

const failHelp = `Fails jobs permanently: they stay in the queue as failed, with the --reason as their last error, until they are
retried or deleted. Running jobs are skipped, unless their worker has held them for more than four hours.`

const failExamples = `  gw-run fail 17 --reason 'customer has left'
  gw-run fail --queue imports --state ready`

func newFailCommand(env cli.Env) *cobra.Command {
	var reason string
	c := &change{
		cobra:   cobra.Command{Use: "fail [ID...]", Short: "Fail jobs permanently", Long: failHelp, Example: failExamples},
		prepare: func() (operate.Act, error) { return operate.Fail(statement.OrNull(reason)), nil },
	}
	c.cobra.Flags().StringVar(&reason, "reason", "", "`text` for the last error (default: Manually marked as failed)")
	return c.command(env)
}

const completeHelp = `Deletes jobs from the queue as completed. Running jobs are skipped, unless their worker has held them for more than
four hours.`

const completeExamples = `  gw-run complete 17
  gw-run complete --task send_email --state ready`

func newCompleteCommand(env cli.Env) *cobra.Command {
	c := &change{
		cobra:   cobra.Command{Use: "complete [ID...]", Short: "Delete jobs as completed", Long: completeHelp, Example: completeExamples},
		prepare: func() (operate.Act, error) { return operate.Complete(), nil },
	}
	return c.command(env)
}

const removeHelp = `Deletes jobs from the queue in any state; nothing of them is kept. Running jobs are skipped, unless their worker has
held them for more than four hours.

With --key and no other condition a running job is not skipped: it may finish, but it loses its key and does not run
again.

Old failed jobs are deleted by:
  gw-run remove --state failed --older-than 30d`

const removeExamples = `  gw-run remove 17
  gw-run remove --key user:42
  gw-run remove --state failed --older-than 30d --yes`

func newRemoveCommand(env cli.Env) *cobra.Command {
	c := &change{cobra: cobra.Command{Use: "remove [ID...]", Short: "Remove jobs", Long: removeHelp, Example: removeExamples}}
	c.prepare = func() (operate.Act, error) {
		if c.isKeyAlone() {
			return operate.RemoveKey(c.Key), nil
		}
		return operate.Remove(), nil
	}
	return c.command(env)
}
