package main

import "github.com/spf13/cobra"

func newCronCommand(env Env) *cobra.Command {
	cmd := parent(&cobra.Command{
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
