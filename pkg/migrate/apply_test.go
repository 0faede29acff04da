package migrate_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
)

func TestAFailedMigrationIsShownWithItsPlaceAndKeepsWhatCameBefore(t *testing.T) {
	pgtest.OnOneVersion(t)
	const (
		good = "create table {{.schema}}._gw_good (id integer);"
		bad  = "create table {{.schema}}._gw_half ();\n-- äöü\nselect 'ä', ö from {{.schema}}._gw_good;\n"
		cut  = "create table {{.schema}}._gw_half ();\n-- äöü\ncreate table"
		mend = "create table {{.schema}}._gw_half ()"
	)
	database := pgtest.EmptyDatabase(t)
	cfg := migrate.Config{Schema: "schlüssel"}
	up(t, database, cfg)
	latest := available(t)
	kept := fmt.Sprintf("the schema stays at version %d", latest+1)

	_, err := newMigratorFrom(t, database, cfg, withMigrations(t, good, bad)).Up(t.Context())

	var partial *migrate.PartialError
	if !errors.As(err, &partial) {
		t.Fatalf("got %v", err)
	}
	if len(partial.Applied) != 1 || partial.Applied[0].Version != latest+1 || partial.Failed.Version != latest+2 {
		t.Errorf("applied %v, failed %s", partial.Applied, partial.Failed.Name)
	}
	for _, want := range []string{partial.Failed.Name + ": line 3, column 13: ", "42703", "at: select 'ä', ö from",
		kept} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("message without %q: %v", want, err)
		}
	}

	_, err = newMigratorFrom(t, database, cfg, withMigrations(t, good, cut)).Up(t.Context())
	if err == nil || !strings.Contains(err.Error(), "line 3, column 12: ") || strings.Contains(err.Error(), kept) {
		t.Errorf("of one that ends too early: %v", err)
	}

	result, err := newMigratorFrom(t, database, cfg, withMigrations(t, good, mend)).Up(t.Context())
	if err != nil || result.Before != latest+1 || result.After != latest+2 {
		t.Errorf("once it is mended: %+v, %v", result, err)
	}
}
