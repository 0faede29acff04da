package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

const repairHelp = `Put functions and triggers of the queue back as the schema's version has them, where a later Graphile Worker has replaced
them or somebody has changed or dropped them. It is one transaction. gw-migrate status lists what is not ours.`

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
		fmt.Fprintf(c.stderr, "warning: left alone: %s (%s); this program has nothing to put in its place\n", object, object.Origin)
	}
	if len(repaired.Replaced) == 0 {
		fmt.Fprintf(c.stderr, "nothing to repair in schema %q\n", c.schema)
	} else {
		fmt.Fprintf(c.stderr, "schema %q is repaired\n", c.schema)
	}
	return nil
}
