package main

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/stop"
)

const failHelp = `Fails jobs permanently: they stay in the queue as failed, with the --reason as their last error, until they are
retried or deleted. Running jobs are skipped, unless their worker has held them for more than four hours.`

const failExamples = `  gw-run fail 17 --reason 'customer has left'
  gw-run fail --queue imports --state ready`

func newFailCommand(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	var reason string
	c := &change{
		cobra: cobra.Command{Use: "fail [ID...]", Short: "Fail jobs permanently", Long: failHelp, Example: failExamples},
		verb:  "fail",
		did:   "Failed",
		prepare: func() (string, []any, error) {
			return `S.permanently_fail_jobs(IDS, $2::text)`, []any{orNull(reason)}, nil
		},
	}
	c.cobra.Flags().StringVar(&reason, "reason", "", "`text` for the last error (default: Manually marked as failed)")
	return c.command(getenv, stops)
}
