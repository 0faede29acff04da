package main

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/about"
	"github.com/gwsql/gw/internal/connection"
)

const versionHelp = `Prints the version of this program and the schema version that it installs; with --connection, also the version of the
schema in that database.`

const versionExamples = `  gw-migrate version
  gw-migrate version --connection postgres:///app`

func (c *command) version(cmd *cobra.Command, _ []string) error {
	target := ""
	if cmd.Flags().Changed("connection") {
		var err error
		if target, err = connection.FromFlag(c.connection, c.getenv); err != nil {
			return err
		}
	}
	if err := about.Print(cmd.Context(), c.stdout, "gw-migrate", target, c.schema); err != nil {
		return failed(err)
	}
	return nil
}
