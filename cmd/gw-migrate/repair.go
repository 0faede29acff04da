package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

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
