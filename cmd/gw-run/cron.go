package main

import "github.com/spf13/cobra"

func newCronCommand(getenv func(string) string, stops *shutdown) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cron",
		Short: "Look at recurring jobs",
		Args:  noArguments,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newCronCheckCommand(getenv), newCronListCommand(getenv, stops))
	return cmd
}
