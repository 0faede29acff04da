package main

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/task"
)

// addCompletions registers the shell completions of flags and arguments. The completion command itself is cobra's.
func addCompletions(cmd *cobra.Command) {
	words := map[string][]string{
		"log-format": {"text", "json"},
		"log-level":  {"debug", "info", "warn", "error"},
	}
	for flag, values := range words {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
	}
	must(cmd.MarkFlagDirname("tasks"))
	must(cmd.MarkFlagFilename("config", "yaml", "yml"))
	for _, flag := range []string{"connection", "schema", "jobs", "http", "ui", "grace", "poll-interval", "max-pool-size", "listen-url"} {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
	for _, sub := range cmd.Commands() {
		if sub.Name() == "add" {
			sub.ValidArgsFunction = completeTask
		}
		if sub.Flags().Lookup("task") != nil {
			must(sub.RegisterFlagCompletionFunc("task", completeTask))
		}
	}
}

// completeTask completes a task name with the tasks in the default folder. The argument after the task, such as a payload in
// a file, is left to the shell. The database is not asked, because completion should not wait for a connection.
func completeTask(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 && cmd.Name() == "add" {
		return nil, cobra.ShellCompDirectiveDefault
	}
	found, err := task.Discover("tasks")
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return slices.Sorted(maps.Keys(found.Tasks)), cobra.ShellCompDirectiveNoFileComp
}

// must panics if a flag does not exist, which is a bug in this program.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
