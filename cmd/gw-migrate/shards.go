package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/reshard"
	"github.com/gwsql/gw/pkg/shard"
)

// eachShard returns a command that runs for the database of --connection, or with --shards for that of each shard in turn. It
// continues after a shard that fails, and returns the errors of all.
func (c *command) eachShard(run func(*cobra.Command, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		if c.shardsPath == "" {
			return run(cmd, args)
		}
		m, err := c.readShards()
		if err != nil {
			return err
		}
		var problems []error
		for _, s := range m.Shards {
			c.shard, c.connection = s.Name, s.Connection
			if !c.json {
				fmt.Fprintf(c.stderr, "shard %s:\n", s.Name)
			}
			if err := run(cmd, args); err != nil {
				problems = append(problems, fmt.Errorf("shard %s: %w", s.Name, err))
			}
		}
		return errors.Join(problems...)
	}
}

func (c *command) readShards() (*shard.Map, error) {
	if c.connection != "" {
		return nil, errors.New("--shards and --connection exclude each other: the file has the connection of each shard")
	}
	m, err := config.LoadShards(c.shardsPath, c.getenv)
	if err != nil {
		return nil, &exitError{exitFailed, err}
	}
	return m, nil
}

// joinShards makes the migrated databases shards, unless only a plan was printed.
func (c *command) joinShards(cmd *cobra.Command) error {
	if c.shardsPath == "" || c.dryRun {
		return nil
	}
	m, err := config.LoadShards(c.shardsPath, c.getenv)
	if err != nil {
		return failed(err)
	}
	notes, err := join(cmd.Context(), *m, c.schema)
	for _, note := range notes {
		fmt.Fprintln(c.stderr, note)
	}
	if err != nil {
		return failed(fmt.Errorf("join shards: %w", err))
	}
	return nil
}

func join(ctx context.Context, m shard.Map, schema string) ([]string, error) {
	var databases []*reshard.Database
	for _, s := range m.Shards {
		d, err := reshard.Connect(ctx, s, schema)
		if err != nil {
			return nil, err
		}
		defer d.Close()
		databases = append(databases, d)
	}
	return reshard.Join(ctx, m, databases)
}
