package cli

import (
	"context"
	"fmt"
	"math"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gwsql/gw/internal/usage"
)

// Order is a command that calls one function and prints what it has done.
type Order struct {
	Database
	Cobra cobra.Command
	// call calls the function and returns the sentence to print.
	Call func(ctx context.Context, db *Session, flags *pflag.FlagSet, args []string) (done string, err error)
}

// Command returns the command.
func (o *Order) Command(env Env) *cobra.Command {
	cmd := &o.Cobra
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return o.With(cmd, env, func(ctx context.Context, db *Session) error {
			done, err := o.Call(ctx, db, cmd.Flags(), args)
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
