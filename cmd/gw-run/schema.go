package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/migrate"
)

// prepareSchema installs the schema where there is none and upgrades ours. With noMigrate it only makes sure that there
// is one. A schema that is up to date needs no right to change it.
func prepareSchema(ctx context.Context, conn *pgx.ConnConfig, o *options, log *slog.Logger) error {
	for _, warning := range migrate.Warnings(o.database.schema) {
		log.Warn(warning)
	}
	migrator, err := migrate.New(conn, migrate.Config{
		Schema: o.database.schema,
		OnStep: func(step migrate.Step) { log.Info("migrating", "step", step.String()) },
	})
	if err != nil {
		return err
	}
	if !o.noMigrate {
		_, err := migrator.Up(ctx)
		var refusal *migrate.Refusal
		if errors.As(err, &refusal) {
			return fmt.Errorf("%w; gw-migrate status tells more", err)
		}
		return err
	}
	status, err := migrator.Status(ctx)
	if err != nil {
		return err
	}
	if status.Installed == 0 {
		return fmt.Errorf("no queue is installed in schema %q; run gw-migrate, or leave out --no-migrate", o.database.schema)
	}
	return nil
}
