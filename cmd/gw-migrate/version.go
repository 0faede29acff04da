package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/cli"
	"github.com/gwsql/gw/pkg/migrate"
)

func (c *command) version(*cobra.Command, []string) error {
	available, err := migrate.Available()
	if err != nil {
		return failed(err)
	}
	if _, err := fmt.Fprintf(c.stdout, "gw-migrate %s, schema version %d\n", cli.Version(), available); err != nil {
		return failed(fmt.Errorf("print version: %w", err))
	}
	return nil
}
