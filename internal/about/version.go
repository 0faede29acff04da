// Package about prints the version of a program and of its schema.
package about

import (
	"context"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/build"
	"github.com/gwsql/gw/pkg/migrate"
)

// Print prints the version of a program and the schema version that it installs. With a connection it also prints the
// version of the schema in that database.
func Print(ctx context.Context, w io.Writer, program, connection, schema string) error {
	available, err := migrate.Available()
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s %s, schema version %d\n", program, build.Read(), available); err != nil {
		return fmt.Errorf("print version: %w", err)
	}
	if connection == "" {
		return nil
	}
	installed, err := installedVersion(ctx, connection, schema)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(w, installed); err != nil {
		return fmt.Errorf("print version: %w", err)
	}
	return nil
}

func installedVersion(ctx context.Context, connection, schema string) (string, error) {
	config, err := pgxpool.ParseConfig(connection)
	if err != nil {
		return "", fmt.Errorf("read connection: %w", err)
	}
	migrator, err := migrate.New(config.ConnConfig, migrate.Config{Schema: schema})
	if err != nil {
		return "", err
	}
	status, err := migrator.Status(ctx)
	if err != nil {
		return "", err
	}
	switch {
	case status.Installed == 0:
		return fmt.Sprintf("schema %q contains no queue of gw", schema), nil
	case status.Extension != "":
		return fmt.Sprintf("schema %q is at version %d, of extension %s", schema, status.Installed, status.Extension),
			nil
	default:
		return fmt.Sprintf("schema %q is at version %d", schema, status.Installed), nil
	}
}
