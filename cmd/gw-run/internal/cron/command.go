// Package cron has the commands of gw-run about recurring jobs.
package cron

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
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
