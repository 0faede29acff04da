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
It also takes over a schema that Graphile Worker has made, at revision 19 or later, while its workers run. Any other
schema it refuses, and says what to do.

Environment:
  DATABASE_URL             the database, unless --connection is given
  PGHOST, PGDATABASE, ...  PostgreSQL's own variables, for what is not said otherwise
  GRAPHILE_WORKER_SCHEMA   the schema, unless --schema is given

Exit codes:
  0  done, or nothing to do
  1  it failed or was refused
  2  wrong usage
  3  status --check: the schema is missing or behind this program
  4  the schema is newer than this program, and breaks it or is to be changed by it
  5  status --check: functions or triggers are not ours (repair puts ours back)`

const examples = `  gw-migrate -c postgres://me@localhost/app
  gw-migrate --dry-run -c app
  gw-migrate status --check
  gw-migrate grants --producer app --worker jobs
  gw-migrate print | psql --single-transaction -v ON_ERROR_STOP=1 app`

// command is one call of gw-migrate: its surroundings and its flags.
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
	postgres    int
}

func (c *command) root() *cobra.Command {
	root := &cobra.Command{
		Use:           "gw-migrate",
		Short:         "Install the queue's schema, or bring it up to date",
		Long:          help,
		Example:       examples,
		Args:          cobra.NoArgs,
		RunE:          c.up,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(usage.Flag)
	c.addUpFlags(root)
	root.Flags().BoolVar(&c.tellVersion, "version", false, "print the version of this program and of its schema, then exit")
	flags := root.PersistentFlags()
	flags.StringVarP(&c.connection, "connection", "c", "", "the database: a URL, key=value pairs, or a bare name")
	flags.StringVarP(&c.schema, "schema", "s", connection.Schema(c.getenv), "the schema")

	up := &cobra.Command{
		Use: "up", Short: "Install or upgrade (what gw-migrate does without a command)",
		Long: upHelp, Example: upExamples, Args: cobra.NoArgs, RunE: c.up,
	}
	c.addUpFlags(up)
	status := &cobra.Command{
		Use: "status", Short: "Show the installed and the available version",
		Long: statusHelp, Example: statusExamples, Args: cobra.NoArgs, RunE: c.status,
	}
	status.Flags().BoolVar(&c.check, "check", false, "exit with 3 if the schema is missing or behind, with 4 if it is newer and breaks "+
		"this program, with 5 if it was changed")
	status.Flags().BoolVar(&c.json, "json", false, "print JSON")
	repair := &cobra.Command{
		Use: "repair", Short: "Put our functions and triggers back where others took their place",
		Long: repairHelp, Example: repairExamples, Args: cobra.NoArgs, RunE: c.repair,
	}
	c.addLockTimeout(repair)
	root.AddCommand(c.grantsCommand())
	root.AddCommand(up, status, repair, c.extensionCommand(),
		&cobra.Command{
			Use: "print", Short: "Print the SQL of a fresh install, for other migration tools",
			Long: printHelp, Example: printExamples, Args: cobra.NoArgs, RunE: c.print,
		},
		&cobra.Command{
			Use: "version", Short: "Print the version of this program and of its schema",
			Long: versionHelp, Example: versionExamples, Args: cobra.NoArgs, RunE: c.version,
		},
	)
	return root
}

func (c *command) addUpFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "make all checks, list what would be done, change nothing")
	cmd.Flags().BoolVar(&c.from18, "from-18", false,
		"take over revision 18 of Graphile Worker, too: Node workers older than 0.17 stop and refuse to start")
	cmd.Flags().StringVar(&c.paths, "function-paths", "", "what to do when a schema is taken over whose triggers and the like call "+
		"functions\nwithout a search_path of their own, which is refused else: `set` gives them one, `keep` leaves them")
	c.addLockTimeout(cmd)
}

func (c *command) addLockTimeout(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&c.lockTimeout, "lock-timeout", 5*time.Second,
		"how long one try waits for a lock, and others behind it; a migration is tried ten times")
}

// migrator returns what the flags describe. Its errors are those of usage.
func (c *command) migrator() (*migrate.Migrator, error) {
	if err := c.checkSchema(); err != nil {
		return nil, err
	}
	if c.lockTimeout <= 0 {
		return nil, fmt.Errorf("--lock-timeout %s: it has to be above zero", c.lockTimeout)
	}
	if c.paths != "" && c.paths != string(migrate.SetPaths) && c.paths != string(migrate.KeepPaths) {
		return nil, fmt.Errorf("--function-paths %q: it is set or keep", c.paths)
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
		return errors.New("--schema: the name is empty")
	}
	for _, warning := range migrate.Warnings(c.schema) {
		fmt.Fprintln(c.stderr, "warning:", warning)
	}
	return nil
}
