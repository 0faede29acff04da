package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/pkg/migrate"
)

const statusHelp = `Prints the version of the schema, the pending migrations, and the functions and triggers that differ from the queue's own,
without changing anything. The exit code is 0 unless the database cannot be read; with --check it depends on the state.`

const statusExamples = `  gw-migrate status --connection postgres:///app
  gw-migrate status --check --json`

// statusJSON is what status --json prints.
type statusJSON struct {
	Schema    string        `json:"schema"`
	State     migrate.State `json:"state"`
	Extension string        `json:"extension,omitempty"`
	Revision  int32         `json:"revision"`
	Installed int32         `json:"installed"`
	Available int32         `json:"available"`
	Pending   []string      `json:"pending"`
	Objects   []objectJSON  `json:"objects"`
	Roles     []roleJSON    `json:"roles"`
	Warnings  []string      `json:"warnings"`
	Problem   string        `json:"problem,omitempty"`
	WayOut    string        `json:"way_out,omitempty"`
}

type objectJSON struct {
	Kind   migrate.Kind   `json:"kind"`
	Name   string         `json:"name"`
	Origin migrate.Origin `json:"origin"`
}

type roleJSON struct {
	Name       string   `json:"name"`
	Privileges []string `json:"privileges"`
	Lacks      []string `json:"lacks"`
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
	switch {
	case status.State == migrate.Absent, status.State == migrate.Empty, status.State == migrate.Behind:
		return &exitError{exitBehind, fmt.Errorf("schema %q is at version %d of %d", status.Schema, status.Installed,
			status.Available)}
	case status.Refusal != nil:
		return failed(status.Refusal)
	case status.State == migrate.Graphile:
		return &exitError{exitBehind, fmt.Errorf("schema %q belongs to Graphile Worker; gw-migrate takes it over",
			status.Schema)}
	case len(status.Changed()) > 0:
		return &exitError{exitChanged, fmt.Errorf("schema %q: %d functions or triggers differ from the queue's own; gw-migrate repair restores them",
			status.Schema, len(status.Changed()))}
	}
	return nil
}

func (c *command) printStatus(status migrate.Status) error {
	lines := [][2]string{{"schema", status.Schema}, {"state", string(status.State)}}
	add := func(label, text string) { lines = append(lines, [2]string{label, text}) }
	if status.Extension != "" {
		add("extension", status.Extension)
	}
	if status.Revision > 0 {
		add("revision", fmt.Sprintf("%d of Graphile Worker", status.Revision))
	}
	add("installed", fmt.Sprint(status.Installed))
	add("available", fmt.Sprint(status.Available))
	for _, migration := range status.Pending {
		if migration.Adopted {
			add("adopt", migration.Name)
		} else {
			add("pending", migration.Name)
		}
	}
	if len(status.Objects) > 0 {
		add("ours", fmt.Sprintf("%d of %d functions and triggers", len(status.Objects)-len(status.Changed()),
			len(status.Objects)))
	}
	for _, role := range status.Roles {
		add("role", role.String())
	}
	for _, object := range status.Changed() {
		add(string(object.Origin), object.String())
	}
	for _, warning := range status.Warnings {
		add("warning", warning)
	}
	if status.Refusal != nil {
		add("problem", status.Refusal.Problem)
		add("way out", status.Refusal.WayOut)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintf(c.stdout, "%-10s %s\n", line[0], line[1]); err != nil {
			return err
		}
	}
	return nil
}

func (c *command) printStatusJSON(status migrate.Status) error {
	out := statusJSON{
		Schema:    status.Schema,
		State:     status.State,
		Extension: status.Extension,
		Revision:  status.Revision,
		Installed: status.Installed,
		Available: status.Available,
		Pending:   []string{},
		Objects:   []objectJSON{},
		Roles:     []roleJSON{},
		Warnings:  append([]string{}, status.Warnings...),
	}
	for _, migration := range status.Pending {
		out.Pending = append(out.Pending, migration.Name)
	}
	for _, object := range status.Objects {
		out.Objects = append(out.Objects, objectJSON(object))
	}
	for _, role := range status.Roles {
		out.Roles = append(out.Roles, roleJSON(role))
	}
	if status.Refusal != nil {
		out.Problem, out.WayOut = status.Refusal.Problem, status.Refusal.WayOut
	}
	return json.NewEncoder(c.stdout).Encode(out)
}
