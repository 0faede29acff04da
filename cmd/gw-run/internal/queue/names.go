package queue

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
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

func (n names[T]) command(env cli.Env) *cobra.Command {
	var (
		l     cli.Listing
		p     cli.Page
		after string
		cmd   = &n.cobra
	)
	cmd.Args = cli.NoArguments
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := p.Check(); err != nil {
			return err
		}
		return l.Run(cmd, env, func(ctx context.Context, db *cli.Session, out, errOut io.Writer) error {
			found, err := db.Ask(ctx, n.query, statement.OrNull(after), p.Limit+1)
			if err != nil {
				return fmt.Errorf("list %s: %w", cmd.Name(), err)
			}
			return cli.PrintPage(l, p, found, n.columns, func(last T) string { return cli.ShellWord(n.name(last)) }, out, errOut)
		})
	}
	p.AddFlags(cmd)
	cmd.Flags().StringVar(&after, "after", "", fmt.Sprintf("only names after this `%s`", n.after))
	l.AddFlags(cmd, env.Getenv)
	return cmd
}
