package main

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/stop"
)

const retryHelp = `Makes jobs run now: those that have failed, with all their attempts anew, and those that wait for a later time or the next
attempt. Left alone are jobs that run, and jobs that were replaced by their key, or removed, while they ran and have failed
since: what took their place stands beside them.`

const retryExamples = `  gw-run retry 17 18
  gw-run retry --task send_email --state failed --newer-than 1d --yes`

func newRetryCommand(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	c := &change{
		cobra:   cobra.Command{Use: "retry [ID...]", Short: "Run jobs now, failed ones anew", Long: retryHelp, Example: retryExamples},
		verb:    "retry",
		did:     "Retried",
		prepare: func() (string, []any, error) { return `S.retry_jobs(IDS)`, nil, nil },
	}
	return c.command(getenv, stops)
}
