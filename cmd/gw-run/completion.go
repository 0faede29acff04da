package main

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/task"
)

// addCompletions tells shells what the flags of a worker take. The command that prints the scripts for shells is cobra's.
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
	for _, flag := range []string{"connection", "schema", "jobs", "http", "grace", "poll-interval", "max-pool-size", "listen-url"} {
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

// completeTask offers the tasks of the folder where a worker looks for them by default; what comes after a task, such as
// a payload in a file, is the shell's business. The database is not asked: a shell should not wait for one.
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

// must panics when a flag is not there: a mistake in this file.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
