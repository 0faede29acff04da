package queue

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
)

// workerIDs is a run of a command that acts on workers, whose ids are its arguments.
type workerIDs struct{ cli.Printing }

// command completes the command, whose act gets the ids.
func (w *workerIDs) command(
	env cli.Env, cmd cobra.Command, act func(context.Context, *cli.Session, *cobra.Command, []string) error,
) *cobra.Command {
	cmd.Use += " WORKER..."
	cmd.Args = cli.Arguments(1, cli.Many, "which workers? Give their ids, as gw-run workers shows them")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return w.With(cmd, env, func(ctx context.Context, db *cli.Session) error { return act(ctx, db, cmd, args) })
	}
	w.AddFlags(&cmd, env.Getenv)
	return &cmd
}
