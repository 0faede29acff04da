package main

import "github.com/spf13/cobra"

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
	for _, flag := range []string{"connection", "schema", "jobs", "http", "grace", "poll-interval", "max-pool-size", "listen-url"} {
		must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
}

// must panics when a flag is not there: a mistake in this file.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
