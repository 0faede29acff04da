package cli

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/pflag"

	"github.com/gwsql/gw/internal/connection"
)

// Database is the connection string and the schema of the queue.
type Database struct {
	Connection string
	Schema     string
}

// AddFlags adds the flags of the database to those of a command.
func (d *Database) AddFlags(flags *pflag.FlagSet, getenv func(string) string) {
	flags.StringVarP(&d.Connection, "connection", "c", "", "`database`: a URL, key=value pairs, or a bare name (default DATABASE_URL)")
	flags.StringVarP(&d.Schema, "schema", "s", connection.Schema(getenv), "`schema` of the queue")
}

// Complete finds the connection and checks the flags. Its errors are errors in the command line.
func (d *Database) Complete(getenv func(string) string) (err error) {
	if d.Schema == "" {
		return Usagef("--schema is empty")
	}
	d.Connection, err = connection.FromFlag(d.Connection, getenv)
	return AsUsage(err)
}

// Pool returns the settings of a connection pool.
func (d *Database) Pool() (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(d.Connection)
	if err != nil {
		return nil, fmt.Errorf("read connection: %w", err)
	}
	if params := config.ConnConfig.RuntimeParams; params["application_name"] == "" {
		params["application_name"] = "gw-run"
	}
	connection.Speak(config.ConnConfig)
	return config, nil
}
