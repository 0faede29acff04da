package main

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/stop"
)

const cancelHelp = `Makes jobs fail for good, those too that run, with the --reason as their last error; they stay in the queue as failed
until somebody acts. The worker of a job that runs learns of it within five seconds (setting beat_every) and ends the job's
handler: its program gets SIGTERM, its HTTP request is given up, its SQL statement is canceled. If the job is completed all
the same, it is done. Workers that do not beat, such as Graphile Worker's for Node.js, run it to its end, but not again.

Left alone are jobs that have failed already. Jobs that run are left alone by gw-run fail, complete and remove.`

const cancelExamples = `  gw-run cancel 17 --reason 'wrong customer'
  gw-run cancel --task import --state running`

func newCancelCommand(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	var reason string
	c := &change{
		cobra: cobra.Command{
			Use: "cancel [ID...]", Short: "Make jobs fail for good, those too that run", Long: cancelHelp, Example: cancelExamples,
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
