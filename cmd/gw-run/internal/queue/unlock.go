package queue

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/terminal"
)

const unlockHelp = `Frees the jobs and queues that dead workers hold. Be sure that they are dead: the jobs of a live worker would run a
second time. The interrupted attempts of the freed jobs count. gw-run workers shows the ids of workers.

The command is rarely needed: other workers free the jobs of a registered worker that was not seen for a while, and the
jobs of any other worker after four hours. It shows what each worker holds and when it was last seen, and asks for
confirmation; --yes does not ask, and is required without a terminal.

The exit code is 1 if one of the workers is not registered and holds nothing.`

const unlockExamples = `  gw-run unlock worker-d34db33f
  gw-run unlock --yes pool-1 pool-2`

// unlock is a run of gw-run unlock.
type unlock struct {
	workerIDs
	yes bool
}

// unlocked is what a worker holds, or held until it was unlocked.
type unlocked struct {
	ID         string         `json:"worker_id"`
	Jobs       int64          `json:"jobs"`
	Queues     int64          `json:"queues"`
	LastSeenAt inspect.Moment `json:"last_seen_at"`
	IsKnown    bool           `json:"is_known"`
}

// what describes what the worker holds or held.
func (u unlocked) what() string {
	return cli.Plural(int(u.Jobs), "job") + " and " + cli.Plural(int(u.Queues), "queue")
}

// said tells that the worker was unlocked, as a line.
func (u unlocked) said(time.Time) string {
	if !u.IsKnown {
		return terminal.Printable(u.ID) + ": holds nothing and is not registered"
	}
	return terminal.Printable(u.ID) + ": freed " + u.what()
}

func newUnlockCommand(env cli.Env) *cobra.Command {
	u := &unlock{}
	cmd := cobra.Command{Use: "unlock", Short: "Free the jobs and queues of dead workers", Long: unlockHelp, Example: unlockExamples}
	cmd.Flags().BoolVarP(&u.yes, "yes", "y", false, "do not ask for confirmation")
	return u.command(env, cmd, u.run)
}

func (u *unlock) run(ctx context.Context, db *cli.Session, cmd *cobra.Command, ids []string) error {
	workers, found, err := cli.Rows[unlocked](db.Ask(ctx, held+` order by w.worker_id`, ids))
	if err != nil {
		return fmt.Errorf("look at workers: %w", err)
	}
	known := slices.DeleteFunc(slices.Clone(workers), func(w unlocked) bool { return !w.IsKnown })
	if len(known) > 0 {
		if err := u.confirm(cmd, known, found.Now); err != nil {
			return err
		}
		found, err = db.Act(ctx, `
			with held as materialized (`+held+`),
			     freed as materialized (select S.force_unlock_workers(array(select h.worker_id from held as h)))
			select h.* from held as h left join freed on true order by h.worker_id`, ids)
		if err != nil {
			return fmt.Errorf("unlock workers: %w", err)
		}
	}
	if err := cli.PrintLines(cmd.OutOrStdout(), found, u.JSON, unlocked.said); err != nil {
		return err
	}
	if len(known) < len(workers) {
		return fmt.Errorf("not registered and holding nothing: %d of %s", len(workers)-len(known), cli.Plural(len(workers), "worker"))
	}
	return nil
}

// held selects what each of the workers $1 holds.
const held = `
	select w.worker_id, w.jobs, w.queues, w.last_seen_at,
	       w.is_registered or w.jobs operator(pg_catalog.>) 0 or w.queues operator(pg_catalog.>) 0 as is_known
	  from S.held_by_workers($1::text[]) as w`

// confirm prints what the workers hold and asks for confirmation.
func (u *unlock) confirm(cmd *cobra.Command, workers []unlocked, now time.Time) error {
	if u.yes {
		return nil
	}
	for _, w := range workers {
		seen := "is not registered"
		if !w.LastSeenAt.IsNull() {
			seen = "was last seen " + cli.Ago(w.LastSeenAt, now)
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s holds %s, and %s\n", terminal.Printable(w.ID), w.what(), seen)
	}
	return cli.Confirm(cmd, "Are these workers dead? Free what they hold?", "without a terminal, --yes is required to confirm")
}
