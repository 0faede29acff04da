package main

import (
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/about"
	"github.com/gwsql/gw/internal/cli"
)

const versionHelp = `Print what this program was built from and the version that it brings a schema to; with --connection, also the
version that the schema there has.`

const versionExamples = `  gw-migrate version
  gw-migrate version --connection postgres:///app`

func (c *command) version(cmd *cobra.Command, _ []string) error {
	connection := ""
	if cmd.Flags().Changed("connection") {
		var err error
		if connection, err = cli.ConnString(c.connection, c.getenv); err != nil {
			return err
		}
	}
	if err := about.Print(cmd.Context(), c.stdout, "gw-migrate", connection, c.schema); err != nil {
		return failed(err)
	}
	return nil
}
