package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/statement"
	"github.com/gwsql/gw/internal/terminal"
)

// names is a command that lists rows with a unique name, in the order of their names.
type names[T any] struct {
	cobra   cobra.Command
	after   string // what has the names, such as "queue"
	query   string // $1 is the name after which the list begins, $2 the number of rows
	columns []terminal.Column[T]
	name    func(T) string
}

func newNamesCommand[T any](env Env, n names[T]) *cobra.Command {
	var (
		l     listing
		p     page
		after string
		cmd   = &n.cobra
	)
	cmd.Args = noArguments
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := p.check(); err != nil {
			return err
		}
		return l.run(cmd, env, func(ctx context.Context, db *session, out, errOut io.Writer) error {
			found, err := db.ask(ctx, n.query, statement.OrNull(after), p.limit+1)
			if err != nil {
				return fmt.Errorf("list %s: %w", cmd.Name(), err)
			}
			return printPage(l, p, found, n.columns, func(last T) string { return quoteForShell(n.name(last)) }, out, errOut)
		})
	}
	p.addFlags(cmd)
	cmd.Flags().StringVar(&after, "after", "", fmt.Sprintf("only names after this `%s`", n.after))
	l.addFlags(cmd, env.Getenv)
	return cmd
}
