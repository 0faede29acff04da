package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// outcome is the exit code and the output of gw-migrate.
type outcome struct {
	code           int
	stdout, stderr string
}

// gwMigrate runs the command with only vars in its environment.
func gwMigrate(t *testing.T, vars map[string]string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, func(name string) string { return vars[name] }, &stdout, &stderr)
	return outcome{code, stdout.String(), stderr.String()}
}

func (o outcome) expect(t *testing.T, code int, stdout, stderr string) {
	t.Helper()
	if o.code != code || !strings.Contains(o.stdout, stdout) || !strings.Contains(o.stderr, stderr) {
		t.Errorf("want exit %d, %q on stdout and %q on stderr, got %+v", code, stdout, stderr, o)
	}
}

func TestALifeOfASchema(t *testing.T) {
	database := pgtest.EmptyDatabase(t)
	vars := map[string]string{"DATABASE_URL": database}
	latest := latestVersion(t)
	current := fmt.Sprintf("state      current\nrevision   20 of Graphile Worker\ninstalled  %[1]d\navailable  %[1]d\n",
		latest)
	const plan = "would create schema \"graphile_worker\"\nwould apply 000001_contract.sql\n"

	gwMigrate(t, vars, "status", "--check").expect(t, exitBehind, "state      absent",
		fmt.Sprintf("at version 0 of %d", latest))
	gwMigrate(t, vars, "--dry-run").expect(t, exitOK, plan, "")
	gwMigrate(t, vars, "status", "--check").expect(t, exitBehind, "state      absent", "")

	gwMigrate(t, vars).expect(t, exitOK, "", "create schema \"graphile_worker\"\napply 000001_contract.sql\n")
	gwMigrate(t, vars, "up").expect(t, exitOK, "", fmt.Sprintf("up to date at version %d", latest))
	gwMigrate(t, vars, "up", "--dry-run").expect(t, exitOK, "nothing to do", "")
	gwMigrate(t, vars, "status", "--check").expect(t, exitOK, current, "")

	setVersion(t, database, latest-1)
	behind := gwMigrate(t, vars, "status", "--check", "--json")
	behind.expect(t, exitBehind, fmt.Sprintf(`"pending":["%06d_`, latest), fmt.Sprintf("version %d of %d", latest-1,
		latest))
	if !json.Valid([]byte(behind.stdout)) {
		t.Errorf("output is not JSON: %s", behind.stdout)
	}
}

// A rollback, or a restart during a rollout, starts an older image whose init container migrates.
func TestASchemaThatALaterReleaseHasMigratedIsLeftAsItIs(t *testing.T) {
	database := pgtest.Database(t)
	vars := map[string]string{"DATABASE_URL": database}
	latest := latestVersion(t)
	setVersion(t, database, latest+1)
	newer := fmt.Sprintf("is at version %d, newer than this program, which is for %d", latest+1, latest)
	gwMigrate(t, vars).expect(t, exitOK, "", newer)
	gwMigrate(t, vars).expect(t, exitOK, "", fmt.Sprintf("schema \"graphile_worker\" stays at version %d", latest+1))
	gwMigrate(t, vars, "--dry-run").expect(t, exitOK, fmt.Sprintf("stays at version %d", latest+1), newer)
	gwMigrate(t, vars, "status", "--check").expect(t, exitOK, "state      newer", "")
	gwMigrate(t, vars, "repair").expect(t, exitNewer, "", "cannot change it; use the release that installed it")
	gwMigrate(t, vars, "grants", "--worker", "nobody").expect(t, exitNewer, "",
		"cannot change it; use the release that installed it")

	execute(t, database, fmt.Sprintf("insert into graphile_worker._gw_breaking_versions values (%d)", latest))
	gwMigrate(t, vars).expect(t, exitOK, "", newer)

	execute(t, database, fmt.Sprintf("insert into graphile_worker._gw_breaking_versions values (%d)", latest+1))
	breaking := fmt.Sprintf("version %d is marked as breaking for programs that do not support it; use the release that installed it", latest+1)
	gwMigrate(t, vars).expect(t, exitNewer, "", breaking)
	gwMigrate(t, vars, "--dry-run").expect(t, exitNewer, "", breaking)
	gwMigrate(t, vars, "status").expect(t, exitOK, "way out    use the release that installed it", "")
	gwMigrate(t, vars, "status", "--check").expect(t, exitNewer, "state      newer", breaking)
}

func TestTheSchemaComesFromTheFlagElseFromTheEnvironment(t *testing.T) {
	database := pgtest.EmptyDatabase(t)
	vars := map[string]string{"DATABASE_URL": database, "GRAPHILE_WORKER_SCHEMA": "from_env"}
	gwMigrate(t, vars).expect(t, exitOK, "", `schema "from_env" is now at version `)
	gwMigrate(t, vars, "-s", `from "flag"`).expect(t, exitOK, "", `create schema "from ""flag"""`)
	long := strings.Repeat("x", 33)
	gwMigrate(t, vars, "-s", long).expect(t, exitOK, "", "warning: schema name")
	gwMigrate(t, vars, "status", "--check", "-s", "graphile_worker").expect(t, exitBehind, "absent", "")
}

func TestABareNameIsADatabaseOfTheServerInThePGVariables(t *testing.T) {
	database := pgtest.EmptyDatabase(t)
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PGUSER", u.User.Username())
	if password, ok := u.User.Password(); ok {
		t.Setenv("PGPASSWORD", password)
	}
	t.Setenv("PGPORT", u.Port())
	t.Setenv("PGHOST", u.Hostname())
	if socket := u.Query().Get("host"); socket != "" {
		t.Setenv("PGHOST", socket)
	}
	name := strings.TrimPrefix(u.Path, "/")

	gwMigrate(t, nil, "-c", name).expect(t, exitOK, "", "now at version")
	gwMigrate(t, nil, "status", "-c", "dbname="+name).expect(t, exitOK, "state      current", "")
	t.Setenv("PGDATABASE", name)
	gwMigrate(t, map[string]string{"PGDATABASE": name}, "status").expect(t, exitOK, "state      current", "")
}

func TestWhatIsRefusedExitsWithOneAndTheWayOut(t *testing.T) {
	database := pgtest.EmptyDatabase(t)
	execute(t, database, "create schema graphile_worker; create table graphile_worker.mine ()")
	vars := map[string]string{"DATABASE_URL": database}
	const message = "contains other objects: table graphile_worker.mine; choose another schema"
	gwMigrate(t, vars).expect(t, exitFailed, "", message)
	gwMigrate(t, vars, "--dry-run").expect(t, exitFailed, "", message)
	gwMigrate(t, vars, "status", "--check").expect(t, exitFailed, "state      foreign", message)
	gwMigrate(t, vars, "-c", "host=/nowhere dbname=x password=s3cret").expect(t, exitFailed, "", "connect: ")
}

func TestWrongUsageExitsWithTwoAndSaysWhatIsWrong(t *testing.T) {
	vars := map[string]string{"DATABASE_URL": "postgres://nobody@localhost:1/none"}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--nonsense"}, "unknown flag: --nonsense"},
		{[]string{"down"}, `unknown command "down"`},
		{[]string{"stat"}, `unknown command "stat" for "gw-migrate"; did you mean status?`},
		{[]string{"install"}, "gw-migrate without a command installs and upgrades the queue"},
		{[]string{"up", "extra"}, `unknown command "extra"`},
		{[]string{"--lock-timeout", "soon"}, "invalid argument"},
		{[]string{"--lock-timeout", "0"}, "--lock-timeout is 0s, must be positive"},
		{[]string{"-s", ""}, "--schema is empty"},
		{[]string{"-s", "pg_jobs"}, "start with pg_"},
		{[]string{"print", "-s", "pg_jobs"}, "start with pg_"},
		{[]string{"-c", "postgres://u:s3cret%zz@h/db"}, "neither a URL"},
	} {
		got := gwMigrate(t, vars, c.args...)
		got.expect(t, exitUsage, "", c.want)
		if strings.Contains(got.stderr, "s3cret") {
			t.Errorf("%q shows the password: %s", c.args, got.stderr)
		}
	}
	gwMigrate(t, nil).expect(t, exitUsage, "", "set DATABASE_URL")
}

func TestAChangedFunctionIsReportedAndRepaired(t *testing.T) {
	vars := map[string]string{"DATABASE_URL": pgtest.Database(t)}
	gwMigrate(t, vars, "status", "--check").expect(t, exitOK, "ours       ", "")
	gwMigrate(t, vars, "repair").expect(t, exitOK, "", "nothing to repair")

	execute(t, vars["DATABASE_URL"], `drop function graphile_worker.backoff;
		create function graphile_worker.add_job(identifier text, priority smallint) returns void language sql as ''`)
	gwMigrate(t, vars, "status").expect(t, exitOK,
		"missing    function backoff(integer)\nunknown    function add_job(text, smallint)\n", "")
	gwMigrate(t, vars, "status", "--check", "--json").expect(t, exitChanged,
		`{"kind":"function","name":"backoff(integer)","origin":"missing"}`,
		"2 functions or triggers differ from the queue's own")
	gwMigrate(t, vars).expect(t, exitOK, "", "warning: 2 of the functions and triggers")

	repaired := gwMigrate(t, vars, "repair")
	repaired.expect(t, exitOK, "", "restore function backoff(integer) (missing)\n")
	repaired.expect(t, exitOK, "", "not restored: function add_job(text, smallint)")
	execute(t, vars["DATABASE_URL"], "drop function graphile_worker.add_job(text, smallint)")
	gwMigrate(t, vars, "status", "--check").expect(t, exitOK, "current", "")
	gwMigrate(t, vars, "repair", "-s", "none").expect(t, exitFailed, "", `no queue of this program in schema "none"`)
}

func TestPrintNeedsNoDatabaseAndIsForPsql(t *testing.T) {
	printed := gwMigrate(t, nil, "print", "-s", "my jobs")
	printed.expect(t, exitOK, `create schema if not exists "my jobs"`, "")
	database := pgtest.EmptyDatabase(t)
	psql := exec.Command("psql", "-X", "-q", "--single-transaction", "-v", "ON_ERROR_STOP=1", database)
	psql.Stdin = strings.NewReader(printed.stdout)
	if output, err := psql.CombinedOutput(); err != nil {
		t.Fatalf("psql: %v\n%s", err, output)
	}
	gwMigrate(t, nil, "status", "--check", "-s", "my jobs", "-c", database).expect(t, exitOK, "current", "")
}

func TestTheFilesOfTheExtensionAreWrittenAndListed(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "build", "extension")
	control := filepath.Join(directory, "graphile_worker.control")
	script := filepath.Join(directory, fmt.Sprintf("graphile_worker--%d.sql", latestVersion(t)))
	gwMigrate(t, nil, "extension", "-s", "my jobs", directory).expect(t, exitOK, control+"\n"+script+"\n", "")
	text, err := os.ReadFile(script)
	if err != nil || !strings.Contains(string(text), `create schema "my jobs";`) {
		t.Errorf("%s: %v, the script does not create the schema", script, err)
	}
	gwMigrate(t, nil, "extension", "--pg-tle", directory).expect(t, exitOK,
		filepath.Join(directory, "graphile_worker.pg_tle.sql")+"\n", "")
	gwMigrate(t, nil, "extension").expect(t, exitUsage, "", "accepts 1 arg")
	gwMigrate(t, nil, "extension", filepath.Join(script, "below a file")).expect(t, exitFailed, "", "write extension")
}

func TestVersionNamesProgramAndSchema(t *testing.T) {
	gwMigrate(t, nil, "version").expect(t, exitOK, fmt.Sprintf("schema version %d\n", latestVersion(t)), "")
	database, empty := pgtest.Database(t), pgtest.EmptyDatabase(t)
	gwMigrate(t, nil, "version", "-c", database).
		expect(t, exitOK, fmt.Sprintf("schema \"graphile_worker\" is at version %d\n", latestVersion(t)), "")
	gwMigrate(t, nil, "version", "-c", empty, "-s", "jobs").expect(t, exitOK,
		"schema \"jobs\" contains no queue of gw\n", "")
	gwMigrate(t, map[string]string{"DATABASE_URL": "postgres://nobody@localhost:1/none"}, "version").expect(t, exitOK,
		"", "")
	gwMigrate(t, nil, "version", "-c", "host=/nowhere dbname=x").expect(t, exitFailed, "gw-migrate ", "connect: ")
}

func latestVersion(t *testing.T) int32 {
	t.Helper()
	version, err := migrate.Available()
	if err != nil {
		t.Fatal(err)
	}
	return version
}

func setVersion(t *testing.T, database string, version int32) {
	t.Helper()
	execute(t, database, fmt.Sprintf("update graphile_worker._gw_schema_version set version = %d", version))
}

func execute(t *testing.T, database, statements string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	if _, err := conn.Exec(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
}
