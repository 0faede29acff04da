package main

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/stop"
)

const removeHelp = `Removes jobs from the queue, whatever state they are in; nobody will know of them any more. Left alone are jobs that run,
unless their worker has held them for more than four hours.

By --key alone a job that runs is dealt with, too: it may end what it is at, but has lost its key and will not run again.

Failed jobs that are old, and nothing else, are removed by:
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
