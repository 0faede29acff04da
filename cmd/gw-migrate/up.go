package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/pkg/migrate"
)

func (c *command) up(cmd *cobra.Command, _ []string) error {
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
	if result.Before == result.After {
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
	for _, migration := range status.Pending {
		if migration.Adopted {
			fmt.Fprintf(c.stdout, "would adopt Graphile Worker's tables instead of %s\n", migration.Name)
			continue
		}
		fmt.Fprintf(c.stdout, "would apply %s\n", migration.Name)
	}
	if len(status.Pending) == 0 {
		fmt.Fprintf(c.stdout, "nothing to do: schema %q is up to date at version %d\n", c.schema, status.Installed)
	}
	return nil
}
