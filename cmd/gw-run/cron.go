package main

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/stop"
)

func newCronCommand(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	cmd := parent(&cobra.Command{
		Use:   "cron",
		Short: "Check a crontab; list, pause and run recurring jobs",
		Long: `Checks the recurring jobs of a crontab before a worker uses it, lists the recurring jobs in the database, and pauses,
resumes and runs its schedules.`,
		Example: `  gw-run cron check ./crontab
  gw-run cron list --connection postgres:///app`,
	}, newCronCheckCommand(getenv), newCronListCommand(getenv, stops))
	for _, act := range cronActs {
		cmd.AddCommand(act.command(getenv, stops))
	}
	return cmd
}
