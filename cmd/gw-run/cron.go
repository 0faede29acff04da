package main

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/stop"
)

func newCronCommand(getenv func(string) string, stops *stop.Reasons) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cron",
		Short: "Check a crontab, and list recurring jobs",
		Long:  "Checks the recurring jobs of a crontab before a worker uses it, and lists the recurring jobs in the database.",
		Example: `  gw-run cron check ./crontab
  gw-run cron list --connection postgres:///app`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCronCheckCommand(getenv), newCronListCommand(getenv, stops))
	return cmd
}
