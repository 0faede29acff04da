package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/internal/statement"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/pkg/shim"
)

// PrepareSchema installs the schema if it does not exist, and upgrades an older one. With NoMigrate it only checks that
// the schema exists. If the schema is up to date, no right to change it is needed.
func PrepareSchema(ctx context.Context, o Options) error {
	for _, warning := range migrate.Warnings(o.Schema) {
		o.Logger.Warn(warning)
	}
	conn := o.Pool.ConnConfig
	if o.NoMigrate {
		if err := findQueue(ctx, conn, o.Schema); err != nil {
			return err
		}
		warnOfOldSchema(ctx, o)
		return nil
	}
	migrator, err := migrate.New(conn, migrate.Config{
		Schema: o.Schema,
		OnStep: func(step migrate.Step) {
			if step.Action == migrate.Warn {
				o.Logger.Warn(step.Warning)
				return
			}
			o.Logger.Info("migrating", "step", step.String())
		},
	})
	if err != nil {
		return err
	}
	_, err = migrator.Up(ctx)
	var refusal *migrate.Refusal
	switch {
	case errors.As(err, &refusal) && refusal.Reason == migrate.ReasonNewer:
		return fmt.Errorf("%w: %w", shim.ErrBreakingMigration, err)
	case errors.As(err, &refusal):
		return fmt.Errorf("%w; gw-migrate status shows details", err)
	}
	return err
}

// warnOfOldSchema logs a warning if the schema is older than this program, unless the role may not read the version.
func warnOfOldSchema(ctx context.Context, o Options) {
	migrator, err := migrate.New(o.Pool.ConnConfig, migrate.Config{Schema: o.Schema})
	if err != nil {
		return
	}
	if status, err := migrator.Status(ctx); err == nil && status.State == migrate.Behind {
		o.Logger.Warn(fmt.Sprintf("schema is at version %d, older than version %d of this program; gw-migrate upgrades it",
			status.Installed, status.Available))
	}
}

// findQueue returns an error unless the schema contains the functions that a worker calls. The schema is the queue's
// own, or the one that gw-migrate grants creates for roles without rights in the queue's own.
func findQueue(ctx context.Context, config *pgx.ConnConfig, schema string) error {
	conn, err := connection.Connect(ctx, config)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	var revision int
	err = conn.QueryRow(ctx, statement.In(pgx.Identifier{schema}.Sanitize(), `select S._gw_breaking_revision()`),
		pgx.QueryExecModeExec).Scan(&revision)
	if sqlstate.ClassOf(sqlstate.Of(err)) == sqlstate.NotFound {
		return fmt.Errorf("no queue is installed in schema %q; run gw-migrate, or omit --no-migrate", schema)
	}
	if err != nil {
		return fmt.Errorf("look for the queue: %w", err)
	}
	return nil
}
