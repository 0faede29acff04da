package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/task"
	"github.com/gwsql/gw/internal/terminal"
)

// addCompletions registers the shell completions of flags and arguments. The completion command itself is cobra's.
func addCompletions(cmd *cobra.Command, getenv func(string) string) {
	cli.CompleteWords(cmd, "log-format", "text", "json")
	cli.CompleteWords(cmd, "log-level", "debug", "info", "warn", "error")
	cli.Must(cmd.MarkFlagDirname("tasks"))
	cli.Must(cmd.MarkFlagFilename("config", "yaml", "yml"))
	for _, flag := range []string{"connection", "schema", "jobs", "http", "ui", "grace", "poll-interval", "max-pool-size", "listen-url"} {
		cli.Must(cmd.RegisterFlagCompletionFunc(flag, cobra.NoFileCompletions))
	}
	completeNames(cmd, getenv)
}

// lists are the queries of names that shells complete: those that begin with $1, which may itself be one. Of very many they search
// the first ones, and the next ones after $1.
var lists = map[string]string{
	"task": `select l.task_identifier as name from S.list_tasks(null, 5000, 1) as l where pg_catalog.starts_with(l.task_identifier, $1::text)
	         union select l.task_identifier from S.list_tasks($1::text, 200, 1) as l where pg_catalog.starts_with(l.task_identifier, $1::text)`,
	"queue": `select l.queue_name as name from S.list_queues(null, 5000, 1) as l where pg_catalog.starts_with(l.queue_name, $1::text)
	         union select l.queue_name from S.list_queues($1::text, 200, 1) as l where pg_catalog.starts_with(l.queue_name, $1::text)`,
	"worker": `select l.worker_id as name from S.list_workers(null, 5000, 1) as l where pg_catalog.starts_with(l.worker_id, $1::text)
	         union select l.worker_id from S.list_workers($1::text, 200, 1) as l where pg_catalog.starts_with(l.worker_id, $1::text)`,
	"limit": `select l.name from S.list_limits() as l where pg_catalog.starts_with(l.name, $1::text)`,
}

// firstArguments are the lists of the first argument of commands.
var firstArguments = map[string]string{
	"gw-run add": "task", "gw-run unlock": "worker", "gw-run drain": "worker",
	"gw-run limit set": "limit", "gw-run limit drop": "limit", "gw-run limit override": "limit", "gw-run limit lanes": "limit", "gw-run limit open": "limit",
}

// completeNames registers the completions of names for a command and those below it: of flags that are called as a list, unless
// they take a number, and of first arguments.
func completeNames(cmd *cobra.Command, getenv func(string) string) {
	for list := range lists {
		if flag := cmd.Flags().Lookup(list); flag != nil && flag.Value.Type() != "int" {
			cli.Must(cmd.RegisterFlagCompletionFunc(list, func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
				return namesOf(cmd, getenv, list, begun), cobra.ShellCompDirectiveNoFileComp
			}))
		}
	}
	if list, ok := firstArguments[cmd.CommandPath()]; ok {
		cmd.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			switch {
			case len(args) == 0 || list == "worker": // unlock takes several
				return namesOf(cmd, getenv, list, begun), cobra.ShellCompDirectiveNoFileComp
			case list == "task": // the payload of add may be in a file
				return nil, cobra.ShellCompDirectiveDefault
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
	}
	for _, sub := range cmd.Commands() {
		completeNames(sub, getenv)
	}
}

// completionTime is how long a completion waits for the database, so that the shell has an answer within 300 ms.
const completionTime = 250 * time.Millisecond

// namesOf returns the names of a list that begin with a text: from the database, and of tasks also from the default folder. If the
// database does not answer in time, its names are missing.
func namesOf(cmd *cobra.Command, getenv func(string) string, list, begun string) []string {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionTime)
	defer cancel()
	answer := make(chan []string, 1)
	go func() { answer <- namesInDatabase(ctx, cmd, getenv, list, begun) }() // it may take longer, to close the connection
	var names []string
	if list == "task" {
		if found, err := task.Discover("tasks"); err == nil {
			names = slices.Collect(maps.Keys(found.Tasks))
		}
	}
	select {
	case <-ctx.Done():
	case found := <-answer:
		names = append(names, found...)
	}
	// Shells read a tab as the begin of a description, and a line end as that of the name.
	names = slices.DeleteFunc(names, func(name string) bool {
		return !strings.HasPrefix(name, begun) || terminal.Printable(name) != name
	})
	slices.Sort(names)
	return slices.Compact(names)
}

// namesInDatabase returns names that come after a text, none if there is an error.
func namesInDatabase(ctx context.Context, cmd *cobra.Command, getenv func(string) string, list, begun string) (names []string) {
	to := cli.Database{Connection: cmd.Flag("connection").Value.String(), Schema: cmd.Flag("schema").Value.String()}
	if to.Complete(getenv) != nil {
		return nil
	}
	db, err := to.Open(ctx)
	if err != nil {
		return nil
	}
	defer db.Close()
	rows, _, err := cli.Rows[struct{ Name string }](db.Ask(ctx, lists[list], begun))
	if err != nil {
		return nil
	}
	for _, row := range rows {
		names = append(names, row.Name)
	}
	return names
}
