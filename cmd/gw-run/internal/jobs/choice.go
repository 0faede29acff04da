package jobs

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/statement"
)

// choice is the jobs that the arguments of a command name, by their ids or by the key of one.
type choice struct {
	ids []int64
	key cli.Condition
}

// read reads the arguments of the command, once its flags are known.
func (c *choice) read(args []string) (err error) {
	if c.ids, err = jobIDs(args); err != nil {
		return err
	}
	if (len(c.ids) == 0) == (c.key == "") {
		return cli.Usagef("which job? Give ids, or a key with --key")
	}
	return nil
}

// missing returns an error if a job of the choice is not among those that were found.
func (c *choice) missing(found []int64) error {
	if c.key != "" && len(found) == 0 {
		return fmt.Errorf("there is no job with the key %q", c.key)
	}
	var lost []string
	for _, id := range c.ids {
		if !slices.Contains(found, id) {
			lost = append(lost, fmt.Sprint(id))
		}
	}
	if len(lost) > 0 {
		return fmt.Errorf("there is no job %s (any more)", strings.Join(lost, ", "))
	}
	return nil
}

// newChoiceCommand returns a command that prints the rows of a query about chosen jobs, in which IDS stands for their ids. job
// returns the job of a row. failed is what the command cannot do if the query fails.
func newChoiceCommand[T any](
	env cli.Env, cmd *cobra.Command, failed, query string, job func(T) int64,
	print func(ctx context.Context, db *cli.Session, rows []T, now time.Time, out io.Writer) error,
) *cobra.Command {
	var (
		l cli.Listing
		c choice
	)
	query = strings.ReplaceAll(query, "IDS", `case when $2::text is null then $1::bigint[] else array(select S.matching_job_ids(job_key => $2::text)) end`)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := c.read(args); err != nil {
			return err
		}
		return l.Run(cmd, env, func(ctx context.Context, db *cli.Session, out, _ io.Writer) error {
			rows, found, err := cli.Rows[T](db.Ask(ctx, query, c.ids, statement.OrNull(c.key)))
			if err != nil {
				return fmt.Errorf("%s: %w", failed, err)
			}
			if l.JSON {
				err = cli.PrintJSON(out, found)
			} else {
				err = print(ctx, db, rows, found.Now, out)
			}
			if err != nil {
				return err
			}
			var jobs []int64
			for _, row := range rows {
				jobs = append(jobs, job(row))
			}
			return c.missing(jobs)
		})
	}
	cmd.Flags().VarP(&c.key, "key", "k", "the job with this `key`")
	l.AddFlags(cmd, env.Getenv)
	return cmd
}
