package main

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/stop"
)

const retryHelp = `Makes jobs due now: failed jobs, with all their attempts restored, and jobs that wait for a later time or for their next
attempt. Running jobs are skipped. So are failed jobs that were replaced by their key, or removed, while they ran: a
replacement is a job of its own.`

const retryExamples = `  gw-run retry 17 18
  gw-run retry --task send_email --state failed --newer-than 1d --yes`

func newRetryCommand(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	c := &change{
		cobra:   cobra.Command{Use: "retry [ID...]", Short: "Make jobs due now, with their attempts restored", Long: retryHelp, Example: retryExamples},
		verb:    "retry",
		did:     "Retried",
		prepare: func() (string, []any, error) { return `S.retry_jobs(IDS)`, nil, nil },
	}
	return c.command(getenv, stops)
}
