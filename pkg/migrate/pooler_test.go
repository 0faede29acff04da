package migrate_test

import (
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/pgtest/pgbouncer"
	"github.com/gwsql/gw/pkg/migrate"
)

func TestAPoolerIsRefusedUnlessItKeepsSessions(t *testing.T) {
	pgtest.OnOneVersion(t)
	database := pgtest.EmptyDatabase(t)
	conn := connect(t, database)
	before := identity(t, conn)
	pooler := pgbouncer.Start(t, database)

	for _, c := range []struct{ name, pool, parameters, message string }{
		{"transaction mode", "transaction", "", "two sessions were served by the same process"},
		{"transaction mode with one server connection", "single", "", "two sessions were served by the same process"},
		{"statement mode", "statement", "", "statement pooling mode"},
		{"a startup parameter", "session", "&statement_timeout=1000", "unsupported startup parameter"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := newMigrator(t, pooler+"/"+c.pool+"?sslmode=disable"+c.parameters,
				migrate.Config{}).Up(t.Context())
			refusal := refusalOf(t, err)
			if refusal.Reason != migrate.ReasonPooler || !strings.Contains(err.Error(), c.message) ||
				!strings.Contains(refusal.WayOut, "session mode") {
				t.Errorf("got %v", err)
			}
			if changed := differences(before, identity(t, conn)); changed != nil {
				t.Errorf("changed: %v", changed)
			}
		})
	}
	up(t, pooler+"/session?sslmode=disable", migrate.Config{})
}
