package shim_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

// unset removes all settings that name a database.
func unset(t *testing.T) {
	for _, name := range []string{"DATABASE_URL", "PGHOST", "PGPORT", "PGUSER", "PGDATABASE", "PGSERVICE"} {
		t.Setenv(name, "")
	}
}

func TestOpenTakesTheGivenDatabaseOrThatOfTheEnvironment(t *testing.T) {
	given, fromURL, fromPG := pgtest.Database(t), pgtest.Database(t), pgtest.Database(t)
	unset(t)
	open := func(connString, want string) {
		t.Helper()
		pool, err := shim.Open(t.Context(), connString)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		one(t)(shim.NewClient(pool, shim.ClientConfig{}).Add(t.Context(), "opened", nil, nil))
		one(t)(shim.QuickAdd(t.Context(), connString, "quick", "payload", &shim.AddOptions{Priority: 3}))
		const both = `
			select array_agg(task_identifier || ' ' || priority order by id) = array['opened 0', 'quick 3']
			  from graphile_worker.jobs`
		if !pgtest.Value[bool](t, pgtest.Pool(t, want), both) {
			t.Error("the jobs are not in the database that was meant")
		}
	}

	config, err := pgx.ParseConfig(fromPG)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PGHOST", config.Host)
	t.Setenv("PGUSER", config.User)
	t.Setenv("PGPASSWORD", config.Password)
	t.Setenv("PGDATABASE", config.Database)
	t.Setenv("PGPORT", fmt.Sprint(config.Port))
	open("", fromPG)
	t.Setenv("DATABASE_URL", fromURL)
	open("", fromURL)
	open(given, given)
}

func TestOpenWithoutAnyDatabaseSaysWhatToSet(t *testing.T) {
	unset(t)
	_, opened := shim.Open(t.Context(), "")
	_, added := shim.QuickAdd(t.Context(), "", "task", nil, nil)
	for _, err := range []error{opened, added} {
		if err == nil || !strings.Contains(err.Error(), "pass a connection string, or set DATABASE_URL") {
			t.Errorf("got %v", err)
		}
	}
}

func TestOpenConnectsAtOnce(t *testing.T) {
	const nowhere = "postgres:///app?host=/nowhere"
	_, opened := shim.Open(t.Context(), nowhere)
	_, added := shim.QuickAdd(t.Context(), nowhere, "task", nil, nil)
	for _, err := range []error{opened, added} {
		if err == nil || !strings.Contains(err.Error(), "/nowhere") {
			t.Errorf("got %v", err)
		}
	}
}
