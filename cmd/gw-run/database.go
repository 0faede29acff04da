package main

import (
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/pflag"

	"github.com/gwsql/gw/internal/connection"
)

// database is the connection string and the schema of the queue.
type database struct {
	connection string
	schema     string
}

func (d *database) addFlags(flags *pflag.FlagSet, getenv func(string) string) {
	flags.StringVarP(&d.connection, "connection", "c", "", "`database`: a URL, key=value pairs, or a bare name (default DATABASE_URL)")
	flags.StringVarP(&d.schema, "schema", "s", connection.Schema(getenv), "`schema` of the queue")
}

// complete finds the connection and checks the flags. Its errors are [usageError].
func (d *database) complete(getenv func(string) string) (err error) {
	if d.schema == "" {
		return usagef("--schema is empty")
	}
	d.connection, err = connection.FromFlag(d.connection, getenv)
	return asUsage(err)
}

// pool returns the settings of a connection pool.
func (d *database) pool() (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(d.connection)
	if err != nil {
		return nil, fmt.Errorf("read connection: %w", err)
	}
	if params := config.ConnConfig.RuntimeParams; params["application_name"] == "" {
		params["application_name"] = "gw-run"
	}
	connection.Speak(config.ConnConfig)
	return config, nil
}
