package queue

import (
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
)

const cleanupHelp = `Deletes rows that accumulate, and prints the number of deleted rows:
  DELETE_PERMAFAILED_JOBS  permanently failed jobs; gw-run remove --state failed works step by step, with conditions
  GC_TASK_IDENTIFIERS      names of tasks that no job uses
  GC_JOB_QUEUES            names of queues that no job uses (default)

It does not ask for confirmation. Workers of Graphile Worker for Node.js cache the ids of task names: while one of
them holds jobs, task names are only deleted with --force, which is safe only if all names that it has cached are
given by --keep.`

const cleanupExamples = `  gw-run cleanup
  gw-run cleanup GC_TASK_IDENTIFIERS GC_JOB_QUEUES --keep send_email
  gw-run --cleanup GC_JOB_QUEUES,DELETE_PERMAFAILED_JOBS`

var cleanupTasks = []string{"DELETE_PERMAFAILED_JOBS", "GC_TASK_IDENTIFIERS", "GC_JOB_QUEUES"}

// cleanup is a run of gw-run cleanup, or gw-run --cleanup.
type cleanup struct {
	cli.Printing
	force bool
	keep  []string
}

func newCleanupCommand(env cli.Env) *cobra.Command {
	c := &cleanup{}
	cmd := &cobra.Command{
		Use:       "cleanup [TASK...]",
		Short:     "Delete rows that accumulate",
		Long:      cleanupHelp,
		Example:   cleanupExamples,
		Args:      cobra.ArbitraryArgs,
		ValidArgs: cleanupTasks,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.Complete(env.Getenv); err != nil {
				return err
			}
			if len(args) == 0 {
				args = []string{"GC_JOB_QUEUES"}
			}
			return c.run(cmd.Context(), args, cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&c.keep, "keep", nil, "name of a `task` to keep even if no job uses it; may be repeated")
	flags.BoolVar(&c.force, "force", false, "delete names of tasks even if workers that are not registered hold jobs")
	c.AddFlags(cmd, env.Getenv)
	return cmd
}

func (c *cleanup) run(ctx context.Context, tasks []string, out io.Writer) error {
	for _, name := range tasks {
		if !slices.Contains(cleanupTasks, name) {
			return cli.Usagef("there is no cleanup task %q; the tasks are %v", name, cleanupTasks)
		}
	}
	db, err := c.Open(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	found, err := db.Act(ctx, `select c.task, c.rows from S.cleanup($1::text[], $2::text[], $3::boolean) as c`,
		tasks, append([]string{}, c.keep...), c.force)
	if err != nil {
		return fmt.Errorf("clean up: %w", err)
	}
	type removed struct {
		Task string
		Rows int64
	}
	return cli.PrintLines(out, found, c.JSON, func(r removed, _ time.Time) string { return fmt.Sprintf("%s: %d removed", r.Task, r.Rows) })
}

// CleanUp runs gw-run --cleanup, which keeps the names of the tasks of its worker.
func CleanUp(ctx context.Context, to cli.Database, tasks, keep []string, out io.Writer) error {
	c := cleanup{Printing: cli.Printing{Database: to}, keep: keep}
	return c.run(ctx, tasks, out)
}
