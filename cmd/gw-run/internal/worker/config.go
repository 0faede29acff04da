package worker

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/serve"
)

// NewConfigCommand returns the command about the config file.
func NewConfigCommand(env cli.Env) *cobra.Command {
	return cli.Parent(&cobra.Command{
		Use:   "config",
		Short: "Check the config file, and print its schema",
		Long: "The config file contains settings and how tasks are served. It is the file given by --config, by default gw.yaml " +
			"beside\nthe folder of tasks. docs/run.md describes all its keys.",
		Example: "  gw-run config check",
	}, newConfigCheckCommand(env), newConfigSchemaCommand())
}

const configSchemaHelp = `Prints the JSON Schema of the config file, from which editors know its keys. A file names its schema in the first line:

  # yaml-language-server: $schema=` + config.SchemaURL + `

In place of the address, which has the schema of the newest version, it may name a file that this command has written.`

func newConfigSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "schema",
		Short:   "Print the JSON Schema of the config file, for editors",
		Long:    configSchemaHelp,
		Example: "  gw-run config schema >gw.schema.json",
		Args:    cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := cmd.OutOrStdout().Write(config.Schema())
			return err
		},
	}
}

const configCheckHelp = `Reads the config file as a worker would, with the folder of tasks and the crontab, and prints how each task is served.

Problems are printed on stderr as FILE:LINE:COLUMN with a message, and the exit code is 1: a worker does not start
with such a file, and a running one keeps its previous config. The command does not connect to the database: a worker
checks at its start whether the functions and queries of the file exist.

Without FILE it reads gw.yaml beside the folder of tasks.`

func newConfigCheckCommand(env cli.Env) *cobra.Command {
	o := NewOptions()
	cmd := &cobra.Command{
		Use:     "check [FILE]",
		Short:   "Check the config file, and show how tasks are served",
		Long:    configCheckHelp,
		Example: "  gw-run config check\n  gw-run config check ./gw.yaml",
		Args:    cli.OneFile(0),
	}
	worker := newFlags(o, env.Getenv)
	cmd.Flags().AddFlag(worker.Lookup("config"))
	cmd.Flags().AddFlag(worker.Lookup("tasks"))
	cmd.Flags().AddFlag(worker.Lookup("crontab"))
	cli.Must(cmd.MarkFlagDirname("tasks"))
	cmd.ValidArgsFunction = cobra.FixedCompletions([]string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 && o.configPath != "" {
			return cli.Usagef("FILE and --config exclude each other")
		}
		if len(args) == 1 {
			o.configPath = args[0]
		}
		o.offline = true
		if err := o.Complete(worker, env.Getenv); err != nil {
			return err
		}
		return o.checkConfig(cmd.OutOrStdout())
	}
	return cmd
}

// checkConfig prints how tasks are served.
func (o *Options) checkConfig(out io.Writer) error {
	o.worker.Logger = slog.New(slog.DiscardHandler)
	found, err := serve.Check(o.worker)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "TASK\tKIND\tSERVED BY")
	for _, name := range slices.Sorted(maps.Keys(found.Tasks)) {
		kind, by := served(found.Tasks[name])
		fmt.Fprintf(table, "%s\t%s\t%s\n", name, kind, by)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	verdict := o.worker.File.Path + " is valid"
	if _, err := os.Stat(o.worker.File.Path); errors.Is(err, fs.ErrNotExist) {
		verdict = "There is no " + o.worker.File.Path + "; without it a worker has"
	}
	_, err = fmt.Fprintf(out, "%s: %s, %s.\n", verdict,
		cli.Plural(len(found.Tasks), "task"), cli.Plural(found.RecurringJobs, "recurring job"))
	return err
}

// served describes how a task is served, without the values of variables, which may be secrets.
func served(t config.Task) (kind, by string) {
	switch t.Kind {
	case config.HTTP:
		return "http", t.HTTP.URL.ShownURL()
	case config.SQL:
		return "sql", t.SQL.Function.Written
	case config.Folder:
		return "file", t.Program.Command[0]
	}
	return string(t.Kind), t.Program.Shown
}

// ServedBeside returns the tasks that a worker would serve whose folder of tasks and config file are beside the crontab. It
// returns nil if neither exists or they cannot be read.
func ServedBeside(crontab string, getenv func(string) string) map[string]config.Task {
	o := NewOptions()
	o.offline = true
	flags := newFlags(o, getenv)
	for flag, name := range map[string]string{"tasks": "tasks", "config": "gw.yaml"} {
		path := filepath.Join(filepath.Dir(crontab), name)
		if _, err := os.Stat(path); err == nil {
			cli.Must(flags.Set(flag, path))
		}
	}
	if flags.NFlag() == 0 || o.Complete(flags, getenv) != nil {
		return nil
	}
	o.worker.Logger, o.worker.Crontab = slog.New(slog.DiscardHandler), serve.CrontabFile{Optional: true}
	found, err := serve.Check(o.worker)
	if err != nil {
		return nil
	}
	return found.Tasks
}
