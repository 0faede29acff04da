package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/pkg/migrate"
)

const upHelp = `Installs or upgrades the queue, or takes over a schema of Graphile Worker. Each step is one transaction. A step that waits
for a lock longer than --lock-timeout is rolled back and tried again. Several programs may run this command at the same
time: they wait for each other for up to ten minutes, and print the session for which they wait.

If there is nothing to do, nothing is written, and only the right to read is needed. A schema that a later release has
migrated is not changed, and the exit code is 0 unless one of the newer versions is marked as breaking.`

const upExamples = `  gw-migrate up --connection postgres:///app
  gw-migrate up --dry-run
  gw-migrate up --schema jobs --lock-timeout 1s`

func (c *command) up(cmd *cobra.Command, _ []string) error {
	if c.tellVersion {
		return c.version(cmd, nil)
	}
	migrator, err := c.migrator()
	if err != nil {
		return err
	}
	if c.dryRun {
		status, err := migrator.Check(cmd.Context())
		if err != nil {
			return failed(err)
		}
		return c.plan(status)
	}
	result, err := migrator.Up(cmd.Context())
	if err != nil {
		return failed(err)
	}
	if available, err := migrate.Available(); err != nil {
		return failed(err)
	} else if result.After > available {
		fmt.Fprintf(c.stderr, "schema %q stays at version %d\n", c.schema, result.After)
	} else if result.Before == result.After {
		fmt.Fprintf(c.stderr, "schema %q is up to date at version %d\n", c.schema, result.After)
	} else {
		fmt.Fprintf(c.stderr, "schema %q is now at version %d, was at %d\n", c.schema, result.After, result.Before)
	}
	return nil
}

// plan prints what up would do.
func (c *command) plan(status migrate.Status) error {
	if status.Refusal != nil {
		return failed(status.Refusal)
	}
	if status.State == migrate.Absent {
		fmt.Fprintf(c.stdout, "would create schema %q\n", c.schema)
	}
	for _, warning := range status.Warnings {
		fmt.Fprintln(c.stderr, "warning:", warning)
	}
	for _, role := range status.Shared() {
		fmt.Fprintf(c.stdout, "would grant role %s the rights that the replaced functions of Graphile Worker need\n",
			role.Name)
	}
	for _, migration := range status.Pending {
		if migration.Adopted {
			fmt.Fprintf(c.stdout, "would adopt Graphile Worker's tables instead of %s\n", migration.Name)
			continue
		}
		fmt.Fprintf(c.stdout, "would apply %s\n", migration.Name)
	}
	switch {
	case status.State == migrate.Newer:
		fmt.Fprintf(c.stdout, "nothing to do: schema %q stays at version %d\n", c.schema, status.Installed)
	case len(status.Pending) == 0:
		fmt.Fprintf(c.stdout, "nothing to do: schema %q is up to date at version %d\n", c.schema, status.Installed)
	}
	return nil
}
