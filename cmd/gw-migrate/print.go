package main

import (
	"fmt"

	"github.com/spf13/cobra"

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
