package serve

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestAWorkerThatMayNotMigrateWarnsOfAnOlderSchema(t *testing.T) {
	t.Parallel()
	config, err := pgxpool.ParseConfig(pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	pool := pgtest.Pool(t, config.ConnString())
	prepare := func() string {
		var log bytes.Buffer
		o := Options{Pool: config, Schema: "graphile_worker", NoMigrate: true,
			Logger: slog.New(slog.NewTextHandler(&log, nil))}
		if err := PrepareSchema(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		return log.String()
	}
	if got := prepare(); got != "" {
		t.Errorf("a current schema: %s", got)
	}
	pgtest.Exec(t, pool, "update graphile_worker._gw_schema_version set version = version - 1")
	if got := prepare(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "level=WARN") ||
		!strings.Contains(got, "gw-migrate upgrades it") {
		t.Errorf("an older schema: %s", got)
	}
}
