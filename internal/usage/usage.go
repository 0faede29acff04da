// Package usage suggests a command or flag for one that does not exist, and describes all commands for their manual
// pages.
package usage

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/gwsql/gw/internal/hint"
)

// otherNames maps names of flags in other programs to flags of ours.
var otherNames = map[string]string{
	"concurrency": "jobs", "workers": "jobs", "database": "connection", "url": "connection", "port": "http",
	"interval":   "poll-interval",
	"queue-name": "queue", "job-key": "key", "delay": "in",
}

// Flag returns the error of a flag of cmd. If the flag does not exist, the error suggests another one.
func Flag(cmd *cobra.Command, err error) error {
	unknown, ok := errors.AsType[*pflag.NotExistError](err)
	if !ok || unknown.GetSpecifiedShortnames() != "" {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	name := unknown.GetSpecifiedName()
	if other := otherNames[name]; slices.Contains(names, other) {
		return fmt.Errorf("%w; is --%s meant?", err, other)
	}
	if meant := hint.Nearest(name, names, max(len(name)/3, 2)); meant != "" {
		return fmt.Errorf("%w; is --%s meant?", err, meant)
	}
	return err
}

// NoArguments returns the error of the first of args, which is not a command of cmd; nil without any. The error
// suggests what others says of that word, otherwise the commands that it may mean.
func NoArguments(cmd *cobra.Command, args []string, others map[string]string) error {
	err := cobra.NoArgs(cmd, args)
	if err == nil {
		return nil
	}
	if other := others[args[0]]; other != "" {
		return fmt.Errorf("%w; %s", err, other)
	}
	if like := Commands(cmd, args[0]); len(like) > 0 {
		return fmt.Errorf("%w; did you mean %s?", err, strings.Join(like, " or "))
	}
	return err
}

// Commands returns the subcommands of cmd that a word may mean: those that begin with it, otherwise the most similar
// one.
func Commands(cmd *cobra.Command, word string) (meant []string) {
	var names []string
	for _, sub := range cmd.Commands() {
		if !sub.IsAvailableCommand() {
			continue
		}
		names = append(names, sub.Name())
		if len(word) > 1 && strings.HasPrefix(sub.Name(), word) {
			meant = append(meant, sub.Name())
		}
	}
	if meant == nil {
		if like := hint.Nearest(word, names, max(len(word)/3, 1)); like != "" {
			meant = append(meant, like)
		}
	}
	return meant
}

// Command describes a command, from which packaging/man makes its page.
type Command struct {
	Use, Short, Long, Example string
	Flags                     []Option
	Persistent                []Option // flags that the commands below it also have
	Commands                  []Command
}

// Option describes a flag.
type Option struct {
	Name, Shorthand, Meaning, Default string
	Argument                          string // the name of its value; empty for a switch
	IsOptional                        bool   // the value may be left out
}

// Tree returns a hidden command that prints as JSON what its root is made of.
func Tree() *cobra.Command {
	return &cobra.Command{
		Use: "__commands", Short: "Print a description of all commands as JSON", Hidden: true, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return json.NewEncoder(cmd.OutOrStdout()).Encode(describe(cmd.Root()))
		},
	}
}

func describe(cmd *cobra.Command) Command {
	described := Command{
		Use: cmd.Use, Short: cmd.Short, Long: cmd.Long, Example: cmd.Example,
		Flags: options(cmd.LocalNonPersistentFlags()), Persistent: options(cmd.PersistentFlags()),
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			described.Commands = append(described.Commands, describe(sub))
		}
	}
	return described
}

func options(flags *pflag.FlagSet) (all []Option) {
	flags.VisitAll(func(flag *pflag.Flag) {
		if flag.Hidden || flag.Name == "help" {
			return
		}
		argument, meaning := pflag.UnquoteUsage(flag)
		o := Option{
			Name: flag.Name, Shorthand: flag.Shorthand, Meaning: meaning, Argument: argument,
			IsOptional: flag.NoOptDefVal != "" && argument != "",
		}
		if !slices.Contains([]string{"", "0", "0s", "false", "[]"}, flag.DefValue) {
			o.Default = flag.DefValue
		}
		all = append(all, o)
	})
	return all
}
