package migrate_test

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
)

// Every program says the same of a schema that was renamed, and what it says ends it.
func TestARenamedSchemaIsToBeRenamedBack(t *testing.T) {
	for _, names := range [][2]string{{"graphile_worker", "moved"}, {`it's "x" 100%`, "moved"},
		{"moved", `it's "x" 100%`}} {
		t.Run(names[0]+" to "+names[1], func(t *testing.T) {
			t.Parallel()
			url := pgtest.EmptyDatabase(t)
			if _, err := newMigrator(t, url, migrate.Config{Schema: names[0]}).Up(t.Context()); err != nil {
				t.Fatal(err)
			}
			conn := connect(t, url)
			from, to := pgx.Identifier{names[0]}.Sanitize(), pgx.Identifier{names[1]}.Sanitize()
			execute(t, conn, "alter schema "+from+" rename to "+to)
			m := newMigrator(t, url, migrate.Config{Schema: names[1]})
			status, statusErr := m.Status(t.Context())
			if statusErr != nil || status.Refusal == nil {
				t.Fatalf("status: %+v, %v", status, statusErr)
			}
			_, upErr := m.Up(t.Context())
			_, repairErr := m.Repair(t.Context())
			for call, err := range map[string]error{"status": status.Refusal, "up": upErr, "repair": repairErr} {
				var refusal *migrate.Refusal
				if !errors.As(err, &refusal) ||
					refusal.WayOut != "rename it back: alter schema "+to+" rename to "+from {
					t.Errorf("%s: %v", call, err)
				}
			}
			execute(t, conn, "alter schema "+to+" rename to "+from)
			status, err := newMigrator(t, url, migrate.Config{Schema: names[0]}).Status(t.Context())
			if err != nil || status.State != migrate.Current || len(status.Changed()) > 0 {
				t.Errorf("status after that: %+v, %v", status, err)
			}
		})
	}
}

// Node's own schema under every odd setting is adopted: the names of its functions are the same, quoted or not.
func TestASoundSchemaIsAdoptedUnderOddSettings(t *testing.T) {
	t.Parallel()
	for _, revision := range []int{19, 20} {
		url := graphile(t, revision)
		pgtest.MakeOdd(t, url)
		m := newMigrator(t, url, migrate.Config{Adopt: true})
		if _, err := m.Up(t.Context()); err != nil {
			t.Errorf("revision %d: %v", revision, err)
		}
		if status, err := m.Status(t.Context()); err != nil || status.State != migrate.Current ||
			len(status.Changed()) > 0 {
			t.Errorf("revision %d: %+v, %v", revision, status, err)
		}
	}
}
