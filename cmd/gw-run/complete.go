package main

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/stop"
)

const completeHelp = `Deletes jobs from the queue as completed. Running jobs are skipped, unless their worker has held them for more than
four hours.`

const completeExamples = `  gw-run complete 17
  gw-run complete --task send_email --state ready`

func newCompleteCommand(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	c := &change{
		cobra:   cobra.Command{Use: "complete [ID...]", Short: "Delete jobs as completed", Long: completeHelp, Example: completeExamples},
		verb:    "complete",
		did:     "Completed",
		prepare: func() (string, []any, error) { return `S.complete_jobs(IDS)`, nil, nil },
	}
	return c.command(getenv, stops)
}
