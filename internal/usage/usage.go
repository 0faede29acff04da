// Package usage suggests a command or flag for one that does not exist, and describes all commands for their manual
// pages.
package usage

import (
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
