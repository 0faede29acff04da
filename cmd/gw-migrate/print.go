package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/about"
	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/pkg/migrate"
)

const printHelp = `Prints the SQL of a fresh install: it creates the schema with its content and records the version, so that gw-migrate can
upgrade it later. The SQL does not begin or commit a transaction. This command does not connect to a database.`

const printExamples = `  gw-migrate print | psql --single-transaction -v ON_ERROR_STOP=1 app
  gw-migrate print --schema jobs > migrations/0042_queue.sql`

func (c *command) print(*cobra.Command, []string) error {
	if err := c.checkSchema(); err != nil {
		return err
	}
	text, err := migrate.SQL(c.schema)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprint(c.stdout, text); err != nil {
		return failed(fmt.Errorf("print SQL: %w", err))
	}
	return nil
}

const repairHelp = `Restores functions and triggers of the queue, in the schema's version, that a later Graphile Worker has replaced or that
were changed or dropped, in one transaction. gw-migrate status lists them. Then it restores rows and partitions that were
lost, by the function repair().`

const repairExamples = `  gw-migrate repair --connection postgres:///app`

func (c *command) repair(cmd *cobra.Command, _ []string) error {
	migrator, err := c.migrator()
	if err != nil {
		return err
	}
	repaired, err := migrator.Repair(cmd.Context())
	if err != nil {
		return failed(err)
	}
	for _, object := range repaired.Left {
		fmt.Fprintf(c.stderr, "warning: not restored: %s (%s); this program has no definition of it\n", object,
			object.Origin)
	}
	for _, lost := range repaired.Restored {
		fmt.Fprintf(c.stderr, "restored: %s\n", lost)
	}
	if len(repaired.Replaced)+len(repaired.Restored) == 0 {
		fmt.Fprintf(c.stderr, "nothing to repair in schema %q\n", c.schema)
	} else {
		fmt.Fprintf(c.stderr, "schema %q was repaired\n", c.schema)
	}
	return nil
}

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
