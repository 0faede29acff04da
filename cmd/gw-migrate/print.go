package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/pkg/migrate"
)

// printed returns the SQL to print.
func (c *command) printed() (string, error) {
	if !c.router {
		return migrate.SQL(c.schema)
	}
	if c.shardsPath == "" {
		return "", errors.New("--router needs --shards, the file of shards")
	}
	m, err := c.readShards()
	if err != nil {
		return "", err
	}
	return migrate.RouterSQL(*m, c.schema)
}

const printHelp = `Prints the SQL of a fresh install: it creates the schema with its content and records the version, so that gw-migrate can
upgrade it later. The SQL does not begin or commit a transaction. This command does not connect to a database.

With --router and --shards it prints functions for producers in SQL that add jobs in their shard, by the extension PL/Proxy.
Each call is a transaction of its own: if the caller rolls back, the job stays.`

const printExamples = `  gw-migrate print | psql --single-transaction -v ON_ERROR_STOP=1 app
  gw-migrate print --schema jobs > migrations/0042_queue.sql
  gw-migrate print --router --shards map.yaml | psql --single-transaction -v ON_ERROR_STOP=1 router`

func (c *command) print(*cobra.Command, []string) error {
	if err := c.checkSchema(); err != nil {
		return err
	}
	text, err := c.printed()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprint(c.stdout, text); err != nil {
		return failed(fmt.Errorf("print SQL: %w", err))
	}
	return nil
}
