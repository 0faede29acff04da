package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/pkg/migrate"
)

const extensionHelp = `Writes the control file and the scripts of a PostgreSQL extension with the same queue as gw-migrate installs. An
administrator of the server copies them to the folder that pg_config prints:

  cp build/extension/* "$(pg_config --sharedir)/extension/"

Then any role that may create schemas in a database can install the queue there with 'create extension graphile_worker',
and upgrade it with 'alter extension graphile_worker update'. gw-migrate does not change such a schema. This command does
not connect to a database.

With --pg-tle it writes one file of SQL instead, for managed services with the extension pg_tle. Run by a member of
pgtle_admin, it registers the extension in a database:

  psql --single-transaction -v ON_ERROR_STOP=1 -f build/extension/graphile_worker.pg_tle.sql app`

const extensionExamples = `  gw-migrate extension build/extension
  gw-migrate extension --schema jobs --pg-tle build/extension`

func (c *command) extensionCommand() *cobra.Command {
	cmd := subcommand("extension DIRECTORY", "Write the files of a PostgreSQL extension", extensionHelp,
		extensionExamples, c.extension)
	cmd.Args = cobra.ExactArgs(1)
	cmd.Flags().BoolVar(&c.pgTLE, "pg-tle", false, "write one file that registers the extension with pg_tle")
	return cmd
}

func (c *command) extension(_ *cobra.Command, args []string) error {
	if err := c.checkSchema(); err != nil {
		return err
	}
	files, err := migrate.Extension(migrate.ExtensionConfig{Schema: c.schema, PgTLE: c.pgTLE})
	if err != nil {
		return err
	}
	directory := args[0]
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return failed(fmt.Errorf("write extension: %w", err))
	}
	for _, file := range files {
		path := filepath.Join(directory, file.Name)
		if err := os.WriteFile(path, []byte(file.Text), 0o644); err != nil {
			return failed(fmt.Errorf("write extension: %w", err))
		}
		if _, err := fmt.Fprintln(c.stdout, path); err != nil {
			return failed(fmt.Errorf("print path: %w", err))
		}
	}
	return nil
}
