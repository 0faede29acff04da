package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/statement"
	"github.com/gwsql/gw/internal/stop"
)

// choice is the jobs that the arguments of a command name, by their ids or by the key of one.
type choice struct {
	ids []int64
	key condition
}

// chosenIDs is the SQL of the ids, with the arguments of a choice as the first parameters.
const chosenIDs = `case when $2::text is null then $1::bigint[] else array(select S.matching_job_ids(job_key => $2::text)) end`

func (c *choice) arguments() []any { return []any{c.ids, statement.OrNull(c.key)} }

// read reads the arguments of the command, once its flags are known.
func (c *choice) read(args []string) (err error) {
	if c.ids, err = jobIDs(args); err != nil {
		return err
	}
	if (len(c.ids) == 0) == (c.key == "") {
		return usageError{errors.New("which job? Give ids, or a key with --key")}
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

// newChoiceCommand returns a command that prints something about chosen jobs. print returns the ids of those that exist.
func newChoiceCommand(
	getenv func(string) string, stops *stop.Reasons, cmd *cobra.Command,
	print func(ctx context.Context, db *session, c *choice, asJSON bool, out io.Writer) (found []int64, err error),
) *cobra.Command {
	var (
		l listing
		c choice
	)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if err := c.read(args); err != nil {
			return err
		}
		return l.run(cmd, getenv, stops, func(ctx context.Context, db *session, out, _ io.Writer) error {
			found, err := print(ctx, db, &c, l.json, out)
			if err != nil {
				return err
			}
			return c.missing(found)
		})
	}
	cmd.Flags().VarP(&c.key, "key", "k", "the job with this `key`")
	l.addFlags(cmd, getenv)
	return cmd
}
