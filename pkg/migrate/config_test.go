package migrate_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/pkg/migrate"
)

func TestSchemaNamesThatPostgreSQLWouldChangeOrRefuseAreRefused(t *testing.T) {
	config, err := pgx.ParseConfig("postgres://localhost/db")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		strings.Repeat("ü", 32): "has 64 bytes",
		"pg_jobs":               "start with pg_",
		"a\x00b":                "not text",
		"a\xffb":                "not text",
	} {
		if _, err := migrate.New(config, migrate.Config{Schema: name}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := migrate.New(config, migrate.Config{LockTimeout: -1}); err == nil {
		t.Error("a negative lock timeout is taken")
	}
}

func TestALongSchemaNameIsWarnedOf(t *testing.T) {
	if got := migrate.Warnings(strings.Repeat("ü", 32)); got != nil {
		t.Errorf("32 characters: %v", got)
	}
	if got := migrate.Warnings(strings.Repeat("x", 33)); len(got) != 1 {
		t.Errorf("33 characters: %v", got)
	}
}
