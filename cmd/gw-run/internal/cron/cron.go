// Package cron has the commands of gw-run about recurring jobs.
package cron

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/terminal"
)

// NewCommand returns the command that contains them.
func NewCommand(env cli.Env) *cobra.Command {
	cmd := cli.Parent(&cobra.Command{
		Use:   "cron",
		Short: "Check a crontab; list, pause and run recurring jobs",
		Long: `Checks the recurring jobs of a crontab before a worker uses it, lists the recurring jobs in the database, and pauses,
resumes and runs its schedules.`,
		Example: `  gw-run cron check ./crontab
  gw-run cron list --connection postgres:///app`,
	}, newCronCheckCommand(env), newCronListCommand(env))
	for _, act := range cronActs {
		cmd.AddCommand(act.command(env))
	}
	return cmd
}

// cronAct is a command that changes or runs one schedule of the database.
type cronAct struct {
	use, short, long string
	query            string // returns the column value, null or false if there is no such schedule
	did              string // the end of the sentence about the schedule
}

const (
	noItem  = "\n\nAn item of a crontab is changed in the crontab. The exit code is 1 if there is no such schedule."
	cronRun = `Adds a job of a schedule now, beside its runs: with the same task, payload and options, due at once. A schedule that is
paused can be run, too.`
)

var cronActs = []cronAct{
	{use: "pause", short: "Pause a schedule of the database", did: "is paused",
		long:  "Pauses a schedule that cron_schedule() has created, until gw-run cron resume: it adds no jobs." + noItem,
		query: `select S.cron_pause($1::text) as value`},
	{use: "resume", short: "Resume a schedule of the database", did: "is resumed",
		long:  "Resumes a paused schedule. Its missed runs are not backfilled." + noItem,
		query: `select S.cron_resume($1::text) as value`},
	{use: "run", short: "Add a job of a schedule now", did: "was run: a job was added", long: cronRun + noItem,
		query: `select S.cron_add_job($1::text) is not null as value`},
}

// command returns the command of the act.
func (a cronAct) command(env cli.Env) *cobra.Command {
	o := &cli.Order{Cobra: cobra.Command{
		Use: a.use + " NAME", Short: a.short, Long: a.long, Example: "  gw-run cron " + a.use + " nightly",
		Args: cli.Arguments(1, 1, "which schedule? Give one name, as gw-run cron list shows it"),
	}}
	o.Call = func(ctx context.Context, db *cli.Session, args []string) (string, error) {
		did, err := cli.ActOnce[bool](ctx, db, a.query, args[0])
		if err == nil && !did {
			err = fmt.Errorf("there is no schedule %s; gw-run cron list shows them", terminal.Printable(args[0]))
		}
		return fmt.Sprintf("The schedule %s %s.", terminal.Printable(args[0]), a.did), err
	}
	return o.Command(env)
}
