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
		p     cli.Pages
		after string
		cmd   = &n.cobra
	)
	cmd.Args = cli.NoArguments
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return p.Run(cmd, env, func(ctx context.Context, db *cli.Session, out, errOut io.Writer) error {
			found, err := db.Ask(ctx, n.query, statement.OrNull(after), p.Limit+1)
			if err != nil {
				return fmt.Errorf("list %s: %w", cmd.Name(), err)
			}
			return cli.PrintPage(p, found, n.columns, func(last T) string { return cli.ShellWord(n.name(last)) }, out, errOut)
		})
	}
	p.AddLimit(cmd)
	cmd.Flags().StringVar(&after, "after", "", fmt.Sprintf("only names after this `%s`", n.after))
	p.AddFlags(cmd, env.Getenv)
	return cmd
}
