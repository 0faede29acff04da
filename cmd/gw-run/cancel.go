package main

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/stop"
)

const cancelHelp = `Cancels jobs, running ones included: they fail permanently, with the --reason as their last error, and stay in the
queue as failed until they are retried or deleted. The worker of a running job ends its handler within five seconds
(setting beat_every): a program gets SIGTERM, an HTTP request is aborted, an SQL statement is canceled. If the handler
completes the job nevertheless, the job is completed. Workers without heartbeats, such as Graphile Worker's for
Node.js, run the job to its end, but it does not run again.

Failed jobs are skipped. gw-run fail, complete and remove skip running jobs.`

const cancelExamples = `  gw-run cancel 17 --reason 'wrong customer'
  gw-run cancel --task import --state running`

func newCancelCommand(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	var reason string
	c := &change{
		cobra: cobra.Command{
			Use: "cancel [ID...]", Short: "Cancel jobs, running ones included", Long: cancelHelp, Example: cancelExamples,
		},
		verb:   "cancel",
		did:    "Canceled",
		failed: "has failed already",
		prepare: func() (string, []any, error) {
			return `S.cancel_jobs(IDS, $2::text)`, []any{orNull(reason)}, nil
		},
	}
	c.cobra.Flags().StringVar(&reason, "reason", "", "`text` for the last error (default: Canceled)")
	return c.command(getenv, stops)
}
