package migrate_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
)

func TestThePrintedSQLInstallsByPsqlWhatUpInstalls(t *testing.T) {
	for _, schema := range []string{migrate.DefaultSchema, `Odd "name" $$ it's :x 100%`} {
		t.Run(schema, func(t *testing.T) {
			text, err := migrate.SQL(schema)
			if err != nil {
				t.Fatal(err)
			}
			printed, migrated := pgtest.EmptyDatabase(t), pgtest.EmptyDatabase(t)
			up(t, migrated, migrate.Config{Schema: schema})

			psql := exec.Command("psql", "-X", "-q", "--single-transaction", "-v", "ON_ERROR_STOP=1", "-v", "x=y",
				printed)
			psql.Stdin = strings.NewReader(text)
			if output, err := psql.CombinedOutput(); err != nil {
				t.Fatalf("psql: %v\n%s", err, output)
			}

			if found := differences(shape(t, connect(t, migrated)), shape(t, connect(t, printed))); found != nil {
				t.Errorf("differences:\n%s", strings.Join(found, "\n"))
			}
			if result := up(t, printed, migrate.Config{Schema: schema}); result.Before != available(t) ||
				result.Applied != nil {
				t.Errorf("a later Up: %+v", result)
			}
		})
	}
}
