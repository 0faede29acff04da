package cli

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/terminal"
)

// Listing is a command that prints the rows of a query.
type Listing struct {
	Database
	JSON  bool
	Watch time.Duration // 0 for once
}

// AddFlags adds the flags of a list to those of a command.
func (l *Listing) AddFlags(cmd *cobra.Command, getenv func(string) string) {
	flags := cmd.Flags()
	l.Database.AddFlags(flags, getenv)
	flags.BoolVar(&l.JSON, "json", false, "print one JSON object per line")
	flags.DurationVar(&l.Watch, "watch", 0, "refresh after each `time` until interrupted; --watch alone is --watch=2s")
	flags.Lookup("watch").NoOptDefVal = "2s"
	flags.SortFlags = false
}

// Printing is the flags of a command that prints what it has done.
type Printing struct {
	Database
	JSON bool
}

// AddFlags adds the flags of the output and of the database to those of a command.
func (p *Printing) AddFlags(cmd *cobra.Command, getenv func(string) string) {
	cmd.Flags().BoolVar(&p.JSON, "json", false, "print one JSON object per line")
	p.Database.AddFlags(cmd.Flags(), getenv)
	cmd.Flags().SortFlags = false
}

// Printer prints a list once.
type Printer func(ctx context.Context, db *Session, out, errOut io.Writer) error

// Run prints the list once, or repeatedly with --watch.
func (l *Listing) Run(cmd *cobra.Command, env Env, print Printer) error {
	if l.Watch < 0 || l.Watch > 0 && l.Watch < 100*time.Millisecond {
		return Usagef("--watch is %s, must be at least 100ms", l.Watch)
	}
	return l.With(cmd, env, func(ctx context.Context, db *Session) error {
		if l.Watch == 0 {
			return print(ctx, db, cmd.OutOrStdout(), cmd.ErrOrStderr())
		}
		return terminal.Watch(ctx, cmd.OutOrStdout(), l.Watch, func(out io.Writer) error {
			return print(ctx, db, out, cmd.ErrOrStderr())
		})
	})
}

// PrintList prints rows as a table, or as JSON.
func PrintList[T any](out io.Writer, found inspect.Answer, asJSON bool, columns []terminal.Column[T]) error {
	if asJSON {
		return PrintJSON(out, found)
	}
	rows, err := inspect.Decode[T](found.Rows)
	if err != nil {
		return err
	}
	return terminal.Table(out, columns, rows, found.Now)
}

// PrintJSON prints one object per line.
func PrintJSON(out io.Writer, found inspect.Answer) error {
	for _, row := range found.Rows {
		if _, err := fmt.Fprintf(out, "%s\n", row); err != nil {
			return err
		}
	}
	return nil
}

// PrintLines prints each row as describe says, or as JSON.
func PrintLines[T any](out io.Writer, found inspect.Answer, asJSON bool, describe func(row T, now time.Time) string) error {
	if asJSON {
		return PrintJSON(out, found)
	}
	rows, err := inspect.Decode[T](found.Rows)
	if err != nil {
		return err
	}
	for _, row := range rows {
		if _, err := fmt.Fprintln(out, describe(row, found.Now)); err != nil {
			return err
		}
	}
	return nil
}

// Pages is a list of which a part is printed.
type Pages struct {
	Listing
	Limit int
}

// AddLimit adds --limit to the flags of a command.
func (p *Pages) AddLimit(cmd *cobra.Command) {
	cmd.Flags().IntVarP(&p.Limit, "limit", "n", 100, "maximum `number` of rows to show")
}

// Run is Run of the list, of at least one row.
func (p *Pages) Run(cmd *cobra.Command, env Env, print Printer) error {
	if p.Limit < 1 {
		return Usagef("--limit is %d, must be at least 1", p.Limit)
	}
	return p.Listing.Run(cmd, env, print)
}

// PrintPage prints the rows of a query that asked for one row more than the page has. If that row is there, it prints how to
// see the next ones, after the last of this page: to stderr if the list is JSON.
func PrintPage[T any](p Pages, found inspect.Answer, columns []terminal.Column[T], position func(last T) string, out, errOut io.Writer) error {
	isCut := len(found.Rows) > p.Limit
	if isCut {
		found.Rows = found.Rows[:p.Limit]
	}
	if err := PrintList(out, found, p.JSON, columns); err != nil || !isCut {
		return err
	}
	last, err := inspect.Decode[T](found.Rows[len(found.Rows)-1:])
	if err != nil {
		return err
	}
	if p.JSON {
		out = errOut
	}
	_, err = fmt.Fprintf(out, "There are more rows: --limit shows more of them, --after %s the next ones.\n", position(last[0]))
	return err
}

// WholeList is a command without arguments that lists all rows of a query.
type WholeList[T any] struct {
	Cobra   cobra.Command
	Rows    string // what the rows are, such as "pauses"
	Query   string
	Columns []terminal.Column[T]
	Note    func(found inspect.Answer, notes io.Writer) error // what is said below the table; nil for nothing
}

// Command returns the command.
func (w WholeList[T]) Command(env Env) *cobra.Command {
	var (
		l   Listing
		cmd = &w.Cobra
	)
	cmd.Args = NoArguments
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return l.Run(cmd, env, func(ctx context.Context, db *Session, out, notes io.Writer) error {
			found, err := db.Ask(ctx, w.Query)
			if err != nil {
				return fmt.Errorf("list %s: %w", w.Rows, err)
			}
			if err := PrintList(out, found, l.JSON, w.Columns); err != nil || l.JSON || w.Note == nil {
				return err
			}
			return w.Note(found, notes)
		})
	}
	l.AddFlags(cmd, env.Getenv)
	return cmd
}
