package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/pkg/migrate"
)

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
