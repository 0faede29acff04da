package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/pkg/migrate"
)

// statusJSON is what status --json prints.
type statusJSON struct {
	Schema    string        `json:"schema"`
	State     migrate.State `json:"state"`
	Installed int32         `json:"installed"`
	Available int32         `json:"available"`
	Pending   []string      `json:"pending"`
	Problem   string        `json:"problem,omitempty"`
	WayOut    string        `json:"way_out,omitempty"`
}

func (c *command) status(cmd *cobra.Command, _ []string) error {
	migrator, err := c.migrator()
	if err != nil {
		return err
	}
	status, err := migrator.Status(cmd.Context())
	if err != nil {
		return failed(err)
	}
	if c.json {
		err = c.printStatusJSON(status)
	} else {
		err = c.printStatus(status)
	}
	if err != nil {
		return failed(fmt.Errorf("print status: %w", err))
	}
	if c.check {
		return judge(status)
	}
	return nil
}

// judge returns the error that status --check exits with.
func judge(status migrate.Status) error {
	switch status.State {
	case migrate.Current:
		return nil
	case migrate.Absent, migrate.Empty, migrate.Behind:
		return &exitError{exitBehind, fmt.Errorf("schema %q is at version %d of %d", status.Schema, status.Installed, status.Available)}
	default:
		return failed(status.Refusal)
	}
}

func (c *command) printStatus(status migrate.Status) error {
	_, err := fmt.Fprintf(c.stdout, "schema     %s\nstate      %s\ninstalled  %d\navailable  %d\n",
		status.Schema, status.State, status.Installed, status.Available)
	if err != nil {
		return err
	}
	for _, migration := range status.Pending {
		if _, err := fmt.Fprintf(c.stdout, "pending    %s\n", migration.Name); err != nil {
			return err
		}
	}
	if status.Refusal != nil {
		_, err = fmt.Fprintf(c.stdout, "problem    %s\nway out    %s\n", status.Refusal.Problem, status.Refusal.WayOut)
	}
	return err
}

func (c *command) printStatusJSON(status migrate.Status) error {
	out := statusJSON{
		Schema:    status.Schema,
		State:     status.State,
		Installed: status.Installed,
		Available: status.Available,
		Pending:   []string{},
	}
	for _, migration := range status.Pending {
		out.Pending = append(out.Pending, migration.Name)
	}
	if status.Refusal != nil {
		out.Problem, out.WayOut = status.Refusal.Problem, status.Refusal.WayOut
	}
	return json.NewEncoder(c.stdout).Encode(out)
}
