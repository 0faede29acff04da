package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/pkg/migrate"
)

const tuneHelp = `Changes the indexes of the jobs to those of a queue that no Node worker uses, or back. Without Node workers, claims and
completions write less: docs/performance.md has the figures. It is refused while Node workers are seen.

All workers and producers wait while the indexes are built: about half a second for each million jobs in the table
without Node, two seconds with. If the command fails or is interrupted, nothing has changed.`

const tuneExamples = `  gw-migrate tune --without-node
  gw-migrate tune --with-node --lock-timeout 1s`

func (c *command) tuneCommand() *cobra.Command {
	var with, without bool
	cmd := &cobra.Command{
		Use: "tune", Short: "Choose the indexes of a queue with or without Node workers",
		Long: tuneHelp, Example: tuneExamples, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case with == without:
				return errors.New("tune takes --without-node or --with-node")
			case with:
				return c.tune(cmd, migrate.ForNode)
			default:
				return c.tune(cmd, migrate.WithoutNode)
			}
		},
	}
	cmd.Flags().BoolVar(&without, "without-node", false, "the indexes of a queue that no Node worker uses")
	cmd.Flags().BoolVar(&with, "with-node", false, "the indexes that Node workers need, as after an install")
	cmd.Flags().SortFlags = false
	c.addLockTimeout(cmd)
	return cmd
}

func (c *command) tune(cmd *cobra.Command, wanted migrate.Indexes) error {
	migrator, err := c.migrator()
	if err != nil {
		return err
	}
	changed, err := migrator.Tune(cmd.Context(), wanted)
	if err != nil {
		return failed(err)
	}
	if changed {
		fmt.Fprintf(c.stderr, "schema %q has the indexes for a queue %s\n", c.schema, queueOf(wanted))
	} else {
		fmt.Fprintf(c.stderr, "nothing to do: schema %q has the indexes for a queue %s\n", c.schema, queueOf(wanted))
	}
	return nil
}

// queueOf returns the kind of queue that the indexes are for.
func queueOf(indexes migrate.Indexes) string {
	if indexes == migrate.ForNode {
		return "with Node workers"
	}
	return "without Node workers"
}
