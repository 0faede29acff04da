package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/terminal"
	"github.com/gwsql/gw/internal/usage"
)

// Order is a command that calls one function and prints what it has done.
type Order struct {
	Database
	Cobra cobra.Command
	// Call calls the function and returns the sentence to print.
	Call func(ctx context.Context, db *Session, args []string) (done string, err error)
}

// Command returns the command.
func (o *Order) Command(env Env) *cobra.Command {
	cmd := &o.Cobra
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return o.With(cmd, env, func(ctx context.Context, db *Session) error {
			done, err := o.Call(ctx, db, args)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), done)
			return err
		})
	}
	o.Database.AddFlags(cmd.Flags(), env.Getenv)
	cmd.Flags().SortFlags = false
	return cmd
}

// Many is a number of arguments without a maximum.
const Many = math.MaxInt

// Arguments returns a check for the number of arguments, which asks a question.
func Arguments(least, most int, question string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return Usagef("%s", question)
		}
		return nil
	}
}

// OneFile returns a check for one argument, which may be absent if least is 0.
func OneFile(least int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || len(args) > 1 {
			return Usagef("%s takes one file, not %d", strings.TrimPrefix(cmd.CommandPath(), "gw-run "), len(args))
		}
		return nil
	}
}

// Parent returns a command that does nothing but contain others.
func Parent(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args = NoArguments
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(commands...)
	return cmd
}

// NoArguments refuses arguments.
func NoArguments(cmd *cobra.Command, args []string) error {
	return AsUsage(usage.NoArguments(cmd, args, nil))
}

// Confirm asks a question, and returns an error unless the answer is yes. Without a terminal the error is the refusal.
func Confirm(cmd *cobra.Command, question, refusal string) error {
	if !terminal.Is(cmd.InOrStdin()) {
		return errors.New(refusal)
	}
	goOn, err := terminal.Ask(cmd.InOrStdin(), cmd.ErrOrStderr(), question)
	if err == nil && !goOn {
		err = errors.New("nothing was changed")
	}
	return err
}
