package main

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestGrantsAreGivenListedPrintedAndRevoked(t *testing.T) {
	app, jobs := newRole(t), newRole(t)
	vars := map[string]string{"DATABASE_URL": pgtest.Database(t)}
	gwMigrate(t, vars, "grants").expect(t, exitOK, "", `only the owner may use schema "graphile_worker"`)
	printed := gwMigrate(t, vars, "grants", "--worker", jobs, "--print")
	printed.expect(t, exitOK, `grant execute on function graphile_worker_api.get_job_batch(`, "")
	gwMigrate(t, vars, "grants").expect(t, exitOK, "", "only the owner")
	gwMigrate(t, vars, "grants", "--producer", app, "--tasks", "mail,resize", "--worker", jobs+","+app).expect(t,
		exitOK,
		app+": producer of mail, resize\n", `use the queue in schema "graphile_worker" through schema "graphile_worker_api"`)
	gwMigrate(t, vars, "grants").expect(t, exitOK, jobs+": worker\n", "")
	gwMigrate(t, vars, "grants", "--revoke", app, "--print").expect(t, exitOK,
		"drop function graphile_worker_api.enqueue_mail(", "")
	left := gwMigrate(t, vars, "grants", "--revoke", app)
	left.expect(t, exitOK, jobs+": worker\n", "")
	if strings.Contains(left.stdout, app) {
		t.Errorf("left: %s", left.stdout)
	}
	gwMigrate(t, vars, "grants", "--revoke").expect(t, exitOK, "", "only the owner")
}

func TestMistakesInGrantsAreTold(t *testing.T) {
	app := newRole(t)
	database := pgtest.Database(t)
	vars := map[string]string{"DATABASE_URL": database}
	for _, c := range []struct {
		args   []string
		code   int
		stderr string
	}{
		{[]string{"app"}, exitUsage, `"app": give roles with --producer`},
		{[]string{"--tasks", "mail"}, exitUsage, "--tasks requires --producer"},
		{[]string{"--revoke", "--worker", "jobs"}, exitUsage, "--revoke takes roles as arguments"},
		{[]string{"--worker", "no such role"}, exitFailed, "There is no role 'no such role'"},
		{[]string{"--worker", "no such role", "--print"}, exitFailed, "There is no role 'no such role'"},
		{[]string{"--producer", app, "--tasks", strings.Repeat("x", 60)}, exitUsage, "must have at most 63 bytes"},
		{[]string{"--producer", app, "--tasks", strings.Repeat("x", 60), "--print"}, exitUsage,
			"must have at most 63 bytes"},
		{[]string{"--schema", "elsewhere"}, exitFailed, `there is no queue of this program in schema "elsewhere"`},
	} {
		gwMigrate(t, vars, append([]string{"grants"}, c.args...)...).expect(t, c.code, "", c.stderr)
	}
}

// newRole creates a role. Call it before the database is created in which the role may get rights, so that it is dropped after
// the database.
func newRole(t *testing.T) string {
	t.Helper()
	server, err := pgx.Connect(t.Context(), os.Getenv("GW_TEST_DATABASE_URL"))
	if err != nil {
		t.Fatal(err)
	}
	name := "gw_test_" + strings.ToLower(rand.Text())
	if _, err := server.Exec(t.Context(), "create role "+name); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := server.Exec(context.Background(), "drop role "+name); err != nil {
			t.Error(err)
		}
		_ = server.Close(context.Background())
	})
	return name
}
