package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/stop"
)

// workerIDs is a run of a command that acts on workers, whose ids are its arguments.
type workerIDs struct {
	database
	json bool
}

// command completes the command, whose act gets the ids.
func (w *workerIDs) command(
	getenv func(string) string, stops *stop.Reasons, cmd cobra.Command, act func(context.Context, *session, *cobra.Command, []string) error,
) *cobra.Command {
	cmd.Use += " WORKER..."
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageError{errors.New("which workers? Give their ids, as gw-run workers shows them")}
		}
		return w.with(cmd, getenv, stops, func(ctx context.Context, db *session) error { return act(ctx, db, cmd, args) })
	}
	cmd.Flags().BoolVar(&w.json, "json", false, "print one JSON object per line")
	w.database.addFlags(cmd.Flags(), getenv)
	cmd.Flags().SortFlags = false
	return &cmd
}
