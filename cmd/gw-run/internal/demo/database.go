package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/pgtemp"
	"github.com/gwsql/gw/pkg/migrate"
)

// demoConnectTimeout is the timeout of the connection to a given database. It is short because the demo prints nothing
// while it connects.
const demoConnectTimeout = 10 * time.Second

// run finds or starts the database and runs the demo in it.
func (d *demo) run(ctx, hard context.Context, getenv func(string) string) error {
	source := connectionSource(d.database.Connection, getenv)
	found, err := connection.FromFlag(d.database.Connection, getenv)
	if errors.Is(err, connection.ErrNone) {
		return d.runPrivately(ctx, hard, cmp.Or(d.mirror, getenv(mirrorVariable)))
	}
	if err != nil {
		return cli.AsUsage(err)
	}
	d.database.Connection = found
	return d.runIn(ctx, hard, source)
}

// connectionSource returns the name of the flag or variables that give the database.
func connectionSource(flag string, getenv func(string) string) string {
	switch {
	case flag != "":
		return "--connection"
	case getenv("DATABASE_URL") != "":
		return "DATABASE_URL"
	default:
		return "PGHOST, PGDATABASE or PGSERVICE"
	}
}

// runPrivately runs the demo on a server of its own.
func (d *demo) runPrivately(ctx, hard context.Context, mirror string) error {
	if mirror != "" {
		if _, err := pgtemp.ParseMirror(mirror); err != nil {
			return cli.Usagef("read --mirror or %s: %w", mirrorVariable, err)
		}
	}
	server, err := pgtemp.Start(ctx, pgtemp.Options{Log: d.out, Mirror: mirror})
	if _, isMissing := errors.AsType[pgtemp.NoServerError](err); isMissing {
		return fmt.Errorf("%w; give the demo a database with --connection or DATABASE_URL; give a Maven repository that this machine "+
			"can reach with --mirror or %s", err, mirrorVariable)
	}
	if err != nil {
		return err
	}
	d.database.Connection = server.URL("postgres")
	err = d.install(ctx, "")
	if err == nil {
		err = d.play(ctx, hard, d.database.Connection)
	}
	return errors.Join(err, server.Stop())
}

// runIn runs the demo in the database that the flag or variable source gives.
func (d *demo) runIn(ctx, hard context.Context, source string) error {
	psqlURL, err := urlWithoutPassword(d.database)
	if err != nil {
		return err
	}
	fmt.Fprintf(d.out, "Database: %s (from %s), schema %s\n", psqlURL, source, d.database.Schema)
	if err := d.install(ctx, source); err != nil {
		return err
	}
	err = d.play(ctx, hard, psqlURL)
	if !d.existing {
		fmt.Fprintf(d.out, "The queue stays in the database. To remove it: drop schema %s cascade\n", d.quotedSchema())
	}
	return err
}

// install installs the queue. If the schema already contains a queue, install returns an error, or with d.existing leaves the
// queue as it is.
func (d *demo) install(ctx context.Context, source string) error {
	config, err := d.database.Pool()
	if err != nil {
		return err
	}
	config.ConnConfig.ConnectTimeout = min(config.ConnConfig.ConnectTimeout, demoConnectTimeout)
	migrator, err := migrate.New(config.ConnConfig, migrate.Config{Schema: d.database.Schema})
	if err != nil {
		return err
	}
	status, err := migrator.Status(ctx)
	if _, isUnreachable := errors.AsType[*pgconn.ConnectError](err); isUnreachable && source != "" {
		return fmt.Errorf("%w; without %s, the demo starts a private server", err, source)
	}
	if err != nil {
		return err
	}
	if err := d.accept(status, source); err != nil {
		return err
	}
	_, err = migrator.Up(ctx)
	return err
}

// accept returns an error for a queue that the demo must not use. A schema with something else in it is refused by Up.
func (d *demo) accept(status migrate.Status, source string) error {
	switch status.State {
	case migrate.Absent, migrate.Empty, migrate.Foreign:
		return nil
	}
	if !d.existing {
		return fmt.Errorf("schema %s already contains a queue, which the demo does not touch: choose another schema with --schema, "+
			"use this queue with --existing, or omit %s, so that the demo starts a private server", d.quotedSchema(), source)
	}
	if status.State == migrate.Behind {
		return fmt.Errorf("the queue in schema %s is older than this program; gw-migrate upgrades it, the demo does not", d.quotedSchema())
	}
	return nil
}

// quotedSchema returns the queue's schema, with quotes if SQL requires them.
func (d *demo) quotedSchema() string {
	if plainName.MatchString(d.database.Schema) {
		return d.database.Schema
	}
	return pgx.Identifier{d.database.Schema}.Sanitize()
}

// urlWithoutPassword returns a URL of the database that can be shown.
func urlWithoutPassword(d cli.Database) (string, error) {
	config, err := d.Pool()
	if err != nil {
		return "", err
	}
	to := config.ConnConfig
	u := url.URL{Scheme: "postgres", User: url.User(to.User), Path: "/" + to.Database}
	if strings.HasPrefix(to.Host, "/") {
		u.RawQuery = url.Values{"host": {to.Host}, "port": {strconv.Itoa(int(to.Port))}}.Encode()
	} else {
		u.Host = net.JoinHostPort(to.Host, strconv.Itoa(int(to.Port)))
	}
	return u.String(), nil
}
