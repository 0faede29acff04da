package main

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/usage"
	"github.com/gwsql/gw/pkg/migrate"
)

const help = `gw-migrate installs the queue's schema into a PostgreSQL database, or brings it up to date.
It also takes over a schema that Graphile Worker has created, at revision 19 or later, while its workers run. It refuses
any other schema and prints what to do.

Environment:
  DATABASE_URL             the database, unless --connection is given
  PGHOST, PGDATABASE, ...  PostgreSQL's own variables, for values that the connection does not contain
  GRAPHILE_WORKER_SCHEMA   the schema, unless --schema is given

Exit codes:
  0  success, or nothing to do
  1  failure, or refusal
  2  error in the command line
  3  status --check: the schema is missing or older than this program
  4  the schema is newer than this program, and this program is incompatible with it or was asked to change it
  5  status --check: functions or triggers differ from the queue's own (gw-migrate repair restores them)`

const examples = `  gw-migrate -c postgres://me@localhost/app
  gw-migrate --dry-run -c app
  gw-migrate status --check
  gw-migrate grants --producer app --worker jobs
  gw-migrate print | psql --single-transaction -v ON_ERROR_STOP=1 app`

// command is a run of gw-migrate: its environment, its outputs and its flags.
type command struct {
	getenv         func(string) string
	stdout, stderr io.Writer

	connection  string
	schema      string
	lockTimeout time.Duration
	dryRun      bool
	tellVersion bool
	from18      bool
	paths       string
	check       bool
	json        bool
	pgTLE       bool
}

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use:     "gw-migrate",
		Short:   "Install the queue's schema, or bring it up to date",
		Long:    help,
		Example: examples,
		Args: func(cmd *cobra.Command, args []string) error {
			return usage.NoArguments(cmd, args, otherCommands)
		},
		RunE:          c.up,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(usage.Flag)
	c.addUpFlags(root)
	root.Flags().BoolVar(&c.tellVersion, "version", false,
		"print the version of this program and of its schema, then exit")
	flags := root.PersistentFlags()
	flags.StringVarP(&c.connection, "connection", "c", "",
		"`database`: a URL, key=value pairs, or a bare name (default DATABASE_URL)")
	flags.StringVarP(&c.schema, "schema", "s", connection.Schema(c.getenv), "`schema` of the queue")

	up := subcommand("up", "Install or upgrade the schema, as gw-migrate does without a command", upHelp,
		upExamples, c.up)
	c.addUpFlags(up)
	status := subcommand("status", "Show the installed and the available version", statusHelp, statusExamples, c.status)
	status.Flags().BoolVar(&c.check, "check", false,
		"exit with 3 if the schema is missing or older, with 4 if it is newer and "+
			"incompatible, with 5 if functions or triggers were changed")
	status.Flags().BoolVar(&c.json, "json", false, "print JSON")
	repair := subcommand("repair", "Restore functions and triggers that were changed, replaced or dropped", repairHelp,
		repairExamples, c.repair)
	c.addLockTimeout(repair)
	root.AddCommand(c.grantsCommand(), usage.Tree())
	root.AddCommand(up, status, repair, c.extensionCommand(),
		subcommand("print", "Print the SQL of a fresh install, for other migration tools", printHelp, printExamples,
			c.print),
		subcommand("version", "Print the version of this program and of its schema", versionHelp, versionExamples,
			c.version),
	)
	return root
}

// subcommand returns a command without arguments.
func subcommand(name, short, long, example string, run func(*cobra.Command, []string) error) *cobra.Command {
	return &cobra.Command{Use: name, Short: short, Long: long, Example: example, Args: cobra.NoArgs, RunE: run}
}

// otherCommands are the words for commands of other programs that install a schema.
var otherCommands = map[string]string{"install": withoutCommand, "migrate": withoutCommand, "upgrade": withoutCommand,
	"init": withoutCommand}

const withoutCommand = "gw-migrate without a command installs and upgrades the queue"

func (c *command) addUpFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "only check, and print what would be done")
	cmd.Flags().BoolVar(&c.from18, "from-18", false,
		"take over revision 18 of Graphile Worker, too: Node workers older than 0.17 stop and cannot start again")
	cmd.Flags().StringVar(&c.paths, "function-paths", "",
		"`mode` of taking over a schema in which triggers, for example, call functions "+
			"without\na search_path of their own, which is refused by default: set gives the functions one, keep leaves them unchanged")
	c.addLockTimeout(cmd)
}

func (c *command) addLockTimeout(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&c.lockTimeout, "lock-timeout", 5*time.Second,
		"maximum `time` that one try waits for a lock, and makes others wait behind it; a migration is tried ten times")
}

// migrator returns a Migrator with the settings of the flags. Its errors are errors in the command line.
func (c *command) migrator() (*migrate.Migrator, error) {
	if err := c.checkSchema(); err != nil {
		return nil, err
	}
	if c.lockTimeout <= 0 {
		return nil, fmt.Errorf("--lock-timeout is %s, must be positive", c.lockTimeout)
	}
	if c.paths != "" && c.paths != string(migrate.SetPaths) && c.paths != string(migrate.KeepPaths) {
		return nil, fmt.Errorf("--function-paths is %q, must be set or keep", c.paths)
	}
	text, err := connection.FromFlag(c.connection, c.getenv)
	if err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(text)
	if err != nil {
		return nil, err
	}
	return migrate.New(config.ConnConfig, migrate.Config{
		Schema:        c.schema,
		LockTimeout:   c.lockTimeout,
		Adopt:         true,
		From18:        c.from18,
		FunctionPaths: migrate.PathPolicy(c.paths),
		OnStep:        func(step migrate.Step) { fmt.Fprintln(c.stderr, step) },
	})
}

func (c *command) checkSchema() error {
	if c.schema == "" {
		return errors.New("--schema is empty")
	}
	for _, warning := range migrate.Warnings(c.schema) {
		fmt.Fprintln(c.stderr, "warning:", warning)
	}
	return nil
}
