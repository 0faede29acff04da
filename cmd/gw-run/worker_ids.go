package main

import (
	"context"

	"github.com/spf13/cobra"
)

// workerIDs is a run of a command that acts on workers, whose ids are its arguments.
type workerIDs struct{ printing }

// command completes the command, whose act gets the ids.
func (w *workerIDs) command(
	env Env, cmd cobra.Command, act func(context.Context, *session, *cobra.Command, []string) error,
) *cobra.Command {
	cmd.Use += " WORKER..."
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("which workers? Give their ids, as gw-run workers shows them")
		}
		return w.with(cmd, env, func(ctx context.Context, db *session) error { return act(ctx, db, cmd, args) })
	}
	w.addFlags(&cmd, env.Getenv)
	return &cmd
}
