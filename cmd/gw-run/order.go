package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gwsql/gw/internal/usage"
)

// order is a command that calls one function and prints what it has done.
type order struct {
	database
	cobra cobra.Command
	// call calls the function and returns the sentence to print.
	call func(ctx context.Context, db *session, flags *pflag.FlagSet, args []string) (done string, err error)
}

func newOrderCommand(env Env, o *order) *cobra.Command {
	cmd := &o.cobra
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		return o.with(cmd, env, func(ctx context.Context, db *session) error {
			done, err := o.call(ctx, db, cmd.Flags(), args)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), done)
			return err
		})
	}
	o.database.addFlags(cmd.Flags(), env.Getenv)
	cmd.Flags().SortFlags = false
	return cmd
}

// exactly returns a check for the number of arguments.
func exactly(n int, question string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError{errors.New(question)}
		}
		return nil
	}
}

// parent returns a command that does nothing but contain others.
func parent(cmd *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	cmd.Args = noArguments
	cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	cmd.AddCommand(commands...)
	return cmd
}

// noArguments refuses arguments.
func noArguments(cmd *cobra.Command, args []string) error {
	return asUsage(usage.NoArguments(cmd, args, nil))
}
