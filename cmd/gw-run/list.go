package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/inspect"
	"github.com/gwsql/gw/internal/terminal"
)

// listing is a command that prints the rows of a query.
type listing struct {
	database
	json  bool
	watch time.Duration // 0 for once
}

func (l *listing) addFlags(cmd *cobra.Command, getenv func(string) string) {
	flags := cmd.Flags()
	l.database.addFlags(flags, getenv)
	flags.BoolVar(&l.json, "json", false, "print one JSON object per line")
	flags.DurationVar(&l.watch, "watch", 0, "refresh after each `time` until interrupted; --watch alone is --watch=2s")
	flags.Lookup("watch").NoOptDefVal = "2s"
	flags.SortFlags = false
}

// printing is the flags of a command that prints what it has done.
type printing struct {
	database
	json bool
}

func (p *printing) addFlags(cmd *cobra.Command, getenv func(string) string) {
	cmd.Flags().BoolVar(&p.json, "json", false, "print one JSON object per line")
	p.database.addFlags(cmd.Flags(), getenv)
	cmd.Flags().SortFlags = false
}

// printer prints a list once.
type printer func(ctx context.Context, db *session, out, errOut io.Writer) error

// run prints the list once, or repeatedly with --watch.
func (l *listing) run(cmd *cobra.Command, env Env, print printer) error {
	if l.watch < 0 || l.watch > 0 && l.watch < 100*time.Millisecond {
		return usagef("--watch is %s, must be at least 100ms", l.watch)
	}
	return l.with(cmd, env, func(ctx context.Context, db *session) error {
		if l.watch == 0 {
			return print(ctx, db, cmd.OutOrStdout(), cmd.ErrOrStderr())
		}
		return terminal.Watch(ctx, cmd.OutOrStdout(), l.watch, func(out io.Writer) error {
			return print(ctx, db, out, cmd.ErrOrStderr())
		})
	})
}

// printList prints rows as a table, or as JSON.
func printList[T any](out io.Writer, found inspect.Answer, asJSON bool, columns []terminal.Column[T]) error {
	if asJSON {
		return printJSON(out, found)
	}
	rows, err := inspect.Decode[T](found.Rows)
	if err != nil {
		return err
	}
	return terminal.Table(out, columns, rows, found.Now)
}

// printJSON prints one object per line.
func printJSON(out io.Writer, found inspect.Answer) error {
	for _, row := range found.Rows {
		if _, err := fmt.Fprintf(out, "%s\n", row); err != nil {
			return err
		}
	}
	return nil
}

// printLines prints each row as describe says, or as JSON.
func printLines[T any](out io.Writer, found inspect.Answer, asJSON bool, describe func(row T, now time.Time) string) error {
	if asJSON {
		return printJSON(out, found)
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

// page limits the rows of a list.
type page struct{ limit int }

func (p *page) addFlags(cmd *cobra.Command) {
	cmd.Flags().IntVarP(&p.limit, "limit", "n", 100, "maximum `number` of rows to show")
}

func (p page) check() error {
	if p.limit < 1 {
		return usagef("--limit is %d, must be at least 1", p.limit)
	}
	return nil
}

// printPage prints the rows of a query that asked for one row more than the page has. If that row is there, it prints how to
// see the next ones, after the last of this page: to stderr if the list is JSON.
func printPage[T any](l listing, p page, found inspect.Answer, columns []terminal.Column[T], position func(last T) string, out, errOut io.Writer) error {
	isCut := len(found.Rows) > p.limit
	if isCut {
		found.Rows = found.Rows[:p.limit]
	}
	if err := printList(out, found, l.json, columns); err != nil || !isCut {
		return err
	}
	last, err := inspect.Decode[T](found.Rows[len(found.Rows)-1:])
	if err != nil {
		return err
	}
	if l.json {
		out = errOut
	}
	_, err = fmt.Fprintf(out, "There are more rows: --limit shows more of them, --after %s the next ones.\n", position(last[0]))
	return err
}

// whole is a command without arguments that lists all rows of a query.
type whole[T any] struct {
	cobra   cobra.Command
	rows    string // what the rows are, such as "pauses"
	query   string
	columns []terminal.Column[T]
	note    func(found inspect.Answer, notes io.Writer) error // what is said below the table; nil for nothing
}

func newWholeCommand[T any](env Env, w whole[T]) *cobra.Command {
	var (
		l   listing
		cmd = &w.cobra
	)
	cmd.Args = noArguments
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return l.run(cmd, env, func(ctx context.Context, db *session, out, notes io.Writer) error {
			found, err := db.ask(ctx, w.query)
			if err != nil {
				return fmt.Errorf("list %s: %w", w.rows, err)
			}
			if err := printList(out, found, l.json, w.columns); err != nil || l.json || w.note == nil {
				return err
			}
			return w.note(found, notes)
		})
	}
	l.addFlags(cmd, env.Getenv)
	return cmd
}
