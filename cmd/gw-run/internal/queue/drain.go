package queue

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/terminal"
)

const drainHelp = `Drains workers: from its next heartbeat on, some seconds later, a worker claims no more jobs. It goes on with the
jobs that it has claimed, and stays registered until its process stops. gw-run workers shows which workers are draining,
and which are drained, so that their processes can be stopped without interrupting a job. --undo lets them claim again.

Only workers that register can be drained, not those of Graphile Worker for Node.js.

The exit code is 1 if one of the workers is not registered.`

const drainExamples = `  gw-run drain gw-4a1b9c
  gw-run drain --undo gw-4a1b9c`

// drain is a run of gw-run drain.
type drain struct {
	workerIDs
	undo bool
}

// drained tells whether a worker was there to be drained.
type drained struct {
	ID           string `json:"worker_id"`
	IsRegistered bool   `json:"is_registered"`
}

func newDrainCommand(env cli.Env) *cobra.Command {
	d := &drain{}
	cmd := cobra.Command{Use: "drain", Short: "Let workers claim no more jobs, before they are stopped", Long: drainHelp, Example: drainExamples}
	cmd.Flags().BoolVar(&d.undo, "undo", false, "let the workers claim jobs again")
	return d.command(env, cmd, d.run)
}

func (d *drain) run(ctx context.Context, db *cli.Session, cmd *cobra.Command, ids []string) error {
	workers, found, err := cli.Rows[drained](db.Act(ctx, `
		select u.id as worker_id, S.drain_worker(u.id, $2::boolean) as is_registered from pg_catalog.unnest($1::text[]) as u (id)`, ids, !d.undo))
	if err != nil {
		return fmt.Errorf("drain workers: %w", err)
	}
	unknown := slices.DeleteFunc(slices.Clone(workers), func(w drained) bool { return w.IsRegistered })
	err = cli.PrintLines(cmd.OutOrStdout(), found, d.JSON, d.said)
	if err == nil && len(unknown) > 0 {
		err = fmt.Errorf("not registered: %d of %s", len(unknown), cli.Plural(len(workers), "worker"))
	}
	return err
}

func (d *drain) said(w drained, _ time.Time) string {
	what := "claims no more jobs from its next heartbeat on"
	switch {
	case !w.IsRegistered:
		what = "is not registered"
	case d.undo:
		what = "claims jobs again from its next heartbeat on"
	}
	return terminal.Printable(w.ID) + ": " + what
}
