package jobs

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
)

const exportHelp = `Prints jobs with their payloads for gw-run import, to keep them or to add them to another queue: one JSON object per
line, with the column names of show_jobs(). Jobs are selected by their ids, or by conditions, all of which must match;
without ids and conditions, all jobs are printed, also those that run or have failed. The jobs are not changed.`

const exportExamples = `  gw-run export --state failed --task send_email > failed.ndjson
  gw-run export 17 18 | jq -c '.payload.to = "me@example.com"' | gw-run import -c postgres:///test`

// exportStep is the number of jobs that are read at once; their payloads may be large.
const exportStep = 100

func newExportCommand(env cli.Env) *cobra.Command {
	var (
		d     cli.Database
		which selection
	)
	cmd := &cobra.Command{
		Use: "export [ID...]", Short: "Print jobs for gw-run import", Long: exportHelp, Example: exportExamples, Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			ids, err := which.orIDs(args)
			if err != nil {
				return err
			}
			return d.With(cmd, env, func(ctx context.Context, db *cli.Session) error {
				return export(ctx, db, which, ids, cmd.OutOrStdout())
			})
		},
	}
	which.addFlags(cmd)
	d.AddFlags(cmd.Flags(), env.Getenv)
	cmd.Flags().SortFlags = false
	return cmd
}

// export prints the jobs with these ids, or else those that are selected.
func export(ctx context.Context, db *cli.Session, which selection, ids []int64, out io.Writer) (err error) {
	wanted := len(ids)
	if wanted == 0 {
		if ids, err = which.find(ctx, db); err != nil {
			return err
		}
	}
	printed := 0
	lines := bufio.NewWriter(out)
	for step := range slices.Chunk(ids, exportStep) {
		found, err := db.Ask(ctx, `select s.* from S.show_jobs($1::bigint[]) as s order by s.id`, step)
		if err != nil {
			return fmt.Errorf("export jobs, %d printed: %w", printed, err)
		}
		if err := cli.PrintJSON(lines, found); err != nil {
			return err
		}
		printed += len(found.Rows)
	}
	if err := lines.Flush(); err != nil {
		return err
	}
	if printed < wanted {
		return fmt.Errorf("%s of %d did not exist (any more)", cli.Plural(wanted-printed, "job"), wanted)
	}
	return nil
}
