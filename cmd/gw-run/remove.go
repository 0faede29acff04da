package main

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/stop"
)

const removeHelp = `Deletes jobs from the queue in any state; nothing of them is kept. Running jobs are skipped, unless their worker has
held them for more than four hours.

With --key and no other condition a running job is not skipped: it may finish, but it loses its key and does not run
again.

Old failed jobs are deleted by:
  gw-run remove --state failed --older-than 30d`

const removeExamples = `  gw-run remove 17
  gw-run remove --key user:42
  gw-run remove --state failed --older-than 30d --yes`

func newRemoveCommand(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	c := &change{
		cobra: cobra.Command{Use: "remove [ID...]", Short: "Remove jobs", Long: removeHelp, Example: removeExamples},
		verb:  "remove",
		did:   "Removed",
	}
	c.prepare = func() (string, []any, error) {
		if c.selection == (selection{key: c.key}) && c.key != "" {
			return `S.remove_job(case when pg_catalog.cardinality(IDS) operator(pg_catalog.>) 0 then $2::text end)`, []any{c.key}, nil
		}
		return `S.complete_jobs(IDS)`, nil, nil
	}
	return c.command(getenv, stops)
}
