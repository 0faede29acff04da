package main

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/cmd/gw-run/internal/cron"
	"github.com/gwsql/gw/cmd/gw-run/internal/demo"
	"github.com/gwsql/gw/cmd/gw-run/internal/jobs"
	"github.com/gwsql/gw/cmd/gw-run/internal/limits"
	"github.com/gwsql/gw/cmd/gw-run/internal/queue"
	"github.com/gwsql/gw/cmd/gw-run/internal/worker"
	"github.com/gwsql/gw/internal/about"
	"github.com/gwsql/gw/internal/hint"
	"github.com/gwsql/gw/internal/stop"
	"github.com/gwsql/gw/internal/usage"
)

const help = `Runs the jobs of a queue in PostgreSQL. Each task is an executable file: tasks/hello serves the task "hello",
tasks/mail/send.sh the task "mail/send". It is started for each job, with {"payload":...} on stdin and the other
attributes of the job in environment variables that begin with GRAPHILE_WORKER_. Exit code 0 completes the job; any
other fails it, and it is tried again later. Its output is logged on stderr.

A config file, by default "gw.yaml" beside the folder of tasks, may contain the settings of most flags, and how tasks
are served: by executables with time limits of their own, by programs that keep running, by Node.js modules, by HTTP
servers and by functions of the database. gw-run config check reports its problems.

gw-run installs the queue into the database if it does not exist, and upgrades it if it is older than this program.
gw-migrate does the same separately, and can print what it would do.

Stopping: SIGINT, SIGTERM, SIGUSR2, SIGABRT, or a closed output. After that no job is started; running jobs may finish
within the time of --grace, then they get SIGTERM, 5 seconds later SIGKILL, and return to the queue without counting
the attempt. A second signal ends the grace time at once.

Recurring jobs come from a crontab, by default the file "crontab" beside the folder of tasks, and from schedules in
the database. With --once there are none. gw-run cron check explains a crontab, gw-run cron list prints the recurring
jobs in the database.

On SIGHUP the tasks, the config file and the crontab are read again, with --watch whenever they change. Problems are
logged, and the previous content stays in use.

For orchestrators, --http serves /livez (200 as long as the worker's loops run), /readyz (200 while it can work,
otherwise 503 and the reasons) and /metrics, for Prometheus. Behind a pooler in transaction mode the worker needs
--listen-url, the server's own address, or --no-listen.

Environment variables; flags take precedence over them, and they over the config file:
  DATABASE_URL              the database; without it PGHOST, PGDATABASE and the other PG* variables
  GRAPHILE_WORKER_SCHEMA    the schema
  NO_LOG_SUCCESS            --quiet, if set to any value
  GRAPHILE_LOGGER_DEBUG=1   --log-level debug

Exit codes:
  0         success: the queue is empty with --once, or every running job has finished after a signal
  1         failure
  2         error in the command line
  57        the queue was migrated to a version that this program does not support: upgrade it
  128+n     stopped by signal n, and jobs had to be interrupted (130 SIGINT, 143 SIGTERM, 141 output closed)`

const usageExamples = `  gw-run --connection postgres:///app --tasks ./tasks --jobs 4
  DATABASE_URL=postgres:///app gw-run --once
  gw-run --config /etc/gw.yaml --watch
  gw-run --http :9464 --log-format json
  gw-run cron check ./crontab
  gw-run demo`

// run runs the command and returns its exit code.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) int {
	stops := stop.New()
	stdout, stderr = stops.Watch(stdout), stops.Watch(stderr)
	cmd := newCommand(cli.Env{Getenv: getenv, Stops: stops})
	cmd.SetArgs(args)
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	err := cmd.ExecuteContext(ctx)
	if err != nil {
		fmt.Fprintln(stderr, "gw-run:", hint.For(err))
	}
	code := cli.ExitCode(err)
	if code == cli.ExitUsage {
		fmt.Fprintln(stderr, "Run 'gw-run --help' for usage.")
	}
	return code
}

func newCommand(env cli.Env) *cobra.Command {
	o := worker.NewOptions()
	var version bool
	cmd := &cobra.Command{
		Use:     "gw-run",
		Short:   "Run the jobs of a queue in PostgreSQL with executable files",
		Long:    help,
		Example: usageExamples,
		Args: func(cmd *cobra.Command, args []string) error {
			return cli.AsUsage(usage.NoArguments(cmd, args, otherCommands))
		},
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				return about.Print(cmd.Context(), cmd.OutOrStdout(), "gw-run", "", "")
			}
			if err := o.Complete(cmd.Flags(), env.Getenv); err != nil {
				return err
			}
			if len(o.Cleanup) > 0 {
				return queue.CleanUp(cmd.Context(), o.Database, o.Cleanup, o.TaskNames(), cmd.OutOrStdout())
			}
			return worker.Run(cmd, o, env.Stops)
		},
	}
	cmd.Flags().BoolVar(&version, "version", false, "print the version of this program and of its schema, then exit")
	cmd.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return cli.AsUsage(usage.Flag(cmd, err)) })
	o.AddFlags(cmd.Flags(), env.Getenv)
	cmd.AddCommand(worker.NewConfigCommand(env), cron.NewCommand(env), demo.NewCommand(env), newVersionCommand(env), usage.Tree())
	addGroup(cmd, "Show and change jobs:", jobs.Commands(env)...)
	addGroup(cmd, "Limit and pause jobs:", limits.Commands(env)...)
	addGroup(cmd, "Show and maintain the queue:", queue.Commands(env)...)
	addCompletions(cmd, env.Getenv)
	return cmd
}

// addGroup adds commands under a title of their own in the help.
func addGroup(cmd *cobra.Command, title string, commands ...*cobra.Command) {
	cmd.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, c := range commands {
		c.GroupID = title
		cmd.AddCommand(c)
	}
}

const (
	runsJobs = "gw-run without a command runs jobs"
	installs = "gw-migrate installs and upgrades the queue"
)

// otherCommands are the words for commands of other programs.
var otherCommands = map[string]string{
	"run": runsJobs, "start": runsJobs, "work": runsJobs, "serve": runsJobs,
	"migrate": installs, "install": installs, "upgrade": installs, "up": installs, "init": installs,
}
