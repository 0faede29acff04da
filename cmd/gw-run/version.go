package main

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/about"
)

const versionHelp = `Prints the version of this program and the schema version that it installs; with --connection, also the version of the
schema in that database.`

const versionExamples = `  gw-run version
  gw-run version --connection postgres:///app`

func newVersionCommand(env cli.Env) *cobra.Command {
	var to cli.Database
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version of this program and of its schema",
		Long:    versionHelp,
		Example: versionExamples,
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to.Connection != "" {
				if err := to.Complete(env.Getenv); err != nil {
					return err
				}
			}
			return about.Print(cmd.Context(), cmd.OutOrStdout(), "gw-run", to.Connection, to.Schema)
		},
	}
	to.AddFlags(cmd.Flags(), env.Getenv)
	return cmd
}
