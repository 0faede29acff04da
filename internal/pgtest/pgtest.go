// Package pgtest gives every test a PostgreSQL database of its own.
//
// A test package calls [Main] from its TestMain. The server is the one of GW_TEST_DATABASE_URL, on which the databases
// of the tests are created and dropped, otherwise a private one from local binaries that ends with the tests.
package pgtest

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtemp"
	"github.com/gwsql/gw/sql"
)

const (
	// serverVariable is the environment variable with the URL of a server whose role may create databases. If Main
	// starts a server, it sets the variable for the tests and the programs that they start.
	serverVariable = "GW_TEST_DATABASE_URL"

	// binariesVariable is the environment variable with the folder of initdb and postgres for private servers, with
	// which one machine can test several versions. Default: the folder that pgtemp finds.
	binariesVariable = "GW_TEST_BIN_DIR"

	// templateVariable is the environment variable with the name of a migrated database on the server from which tests'
	// databases are copied, in place of one with the functions as they are: tests/go/mutants has changed one of them
	// there.
	templateVariable = "GW_TEST_TEMPLATE"

	// timeout is the timeout of each step of creating and dropping a database. It is long because it only matters when
	// a test fails.
	timeout = 5 * time.Minute

	// objectInUse is the SQLSTATE of dropping an object that is in use.
	objectInUse = "55006"

	// atOnce is the minimum number of parallel tests that run at once.
	atOnce = 6
)

// Main runs the tests of a package and exits with their result. Without a server it prints what to do and exits with 1.
func Main(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	// This applies to machines with few processors, too, because tests mostly wait. A flag on the command line takes
	// precedence.
	if err := flag.Set("test.parallel", strconv.Itoa(max(atOnce, runtime.GOMAXPROCS(0)))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if os.Getenv(serverVariable) != "" {
		return m.Run()
	}
	server, err := pgtemp.Start(context.Background(), options(map[string]string{"max_connections": "300"}))
	if err != nil {
		fmt.Fprintf(os.Stderr, "%v\nor run all tests by `make test`, or set %s to the URL of a role that may create databases\n", err, serverVariable)
		return 1
	}
	defer func() {
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	if err := os.Setenv(serverVariable, server.URL("postgres")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func options(settings map[string]string) pgtemp.Options {
	return pgtemp.Options{BinDir: os.Getenv(binariesVariable), LocalOnly: true, Settings: settings,
		Dir: pgtemp.InMemory()}
}

// Server starts a private server for a test that needs its own, to kill it or to change its settings. It is stopped
// after the test.
func Server(t testing.TB, settings map[string]string) *pgtemp.Server {
	t.Helper()
	server, err := pgtemp.Start(context.Background(), options(settings))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	return server
}

// Database returns the URL of a new database with the schema graphile_worker as pkg/migrate installs it. After the test
// the database is dropped, even if sessions are still connected.
func Database(t testing.TB) string {
	t.Helper()
	return DatabaseOn(t, sharedServer(t))
}

// DatabaseOn is [Database] on the server that a URL connects to.
func DatabaseOn(t testing.TB, server string) string {
	t.Helper()
	return create(t, server, func(ctx context.Context, admin *pgx.Conn, name string) error {
		template := os.Getenv(templateVariable)
		if template == "" || server != sharedServer(t) {
			var err error
			if template, err = templateName(sql.FS); err != nil {
				return err
			}
			if err := ensureTemplate(ctx, admin, template); err != nil {
				return err
			}
		}
		return exec(ctx, admin, "create database %s template %s"+copying(admin), name, template)
	})
}

// copying returns the option of create database that is fastest: copying files. Servers before PostgreSQL 15 do that
// always; later ones write each page to the WAL by default.
func copying(admin *pgx.Conn) string {
	version, err := strconv.Atoi(strings.FieldsFunc(admin.PgConn().ParameterStatus("server_version"), isNoDigit)[0])
	if err != nil || version < 15 {
		return ""
	}
	return " strategy file_copy"
}

func isNoDigit(r rune) bool { return r < '0' || r > '9' }

// EmptyDatabase returns the URL of a new, empty database, which is dropped after the test like that of [Database].
func EmptyDatabase(t testing.TB) string {
	t.Helper()
	return create(t, sharedServer(t), func(ctx context.Context, admin *pgx.Conn, name string) error {
		return exec(ctx, admin, "create database %s template %s"+copying(admin), name, "template0")
	})
}

// EncodedDatabase returns the URL of a new, empty database with an encoding, which is dropped after the test like that
// of [Database].
func EncodedDatabase(t testing.TB, encoding string) string {
	t.Helper()
	return create(t, sharedServer(t), func(ctx context.Context, admin *pgx.Conn, name string) error {
		return exec(ctx, admin, "create database %s template template0 encoding "+encoding+" lc_collate 'C' lc_ctype 'C'", name)
	})
}

// Pool returns a pool of connections to a database, closed after the test.
func Pool(t testing.TB, databaseURL string) *pgxpool.Pool {
	t.Helper()
	return openPool(t, databaseURL, recording())
}

// RecordingPool is Pool that appends each statement that pkg/shim sends through it to a file, as make calls does.
func RecordingPool(t testing.TB, databaseURL, path string) *pgxpool.Pool {
	t.Helper()
	return openPool(t, databaseURL, newRecorder(path))
}

func openPool(t testing.TB, databaseURL string, r *recorder) *pgxpool.Pool {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		t.Fatalf("open a pool for the test: %v", err)
	}
	if r != nil {
		config.ConnConfig.Tracer = r
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		t.Fatalf("open a pool for the test: %v", err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// sharedServer returns the URL of the server that the tests share.
func sharedServer(t testing.TB) string {
	t.Helper()
	server := os.Getenv(serverVariable)
	if server == "" {
		t.Fatalf("%s is empty: the package needs func TestMain(m *testing.M) { pgtest.Main(m) }", serverVariable)
	}
	return server
}

func create(t testing.TB, server string, create func(ctx context.Context, admin *pgx.Conn, name string) error) string {
	t.Helper()
	name := "gw_test_" + strings.ToLower(rand.Text())
	err := withAdmin(server, func(ctx context.Context, admin *pgx.Conn) error { return create(ctx, admin, name) })
	if err != nil {
		t.Fatalf("make a database for the test: %v", err)
	}
	t.Cleanup(func() {
		err := withAdmin(server, func(ctx context.Context, admin *pgx.Conn) error { return drop(ctx, admin, name) })
		if err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	databaseURL, err := withDatabase(server, name)
	if err != nil {
		t.Fatalf("make a database for the test: %v", err)
	}
	return databaseURL
}

// withAdmin calls do with a connection to the server.
func withAdmin(server string, do func(ctx context.Context, admin *pgx.Conn) error) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	admin, err := pgx.Connect(ctx, server)
	if err != nil {
		return fmt.Errorf("connect to the tests' server: %w", err)
	}
	defer func() { err = errors.Join(err, admin.Close(ctx)) }()
	return do(ctx, admin)
}

// drop ends the sessions itself, because PostgreSQL 12 has no `drop database with (force)`.
func drop(ctx context.Context, admin *pgx.Conn, name string) error {
	if err := exec(ctx, admin, "alter database %s allow_connections false", name); err != nil {
		return err
	}
	for {
		_, err := admin.Exec(ctx, "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", name)
		if err != nil {
			return fmt.Errorf("end the sessions of %s: %w", name, err)
		}
		err = exec(ctx, admin, "drop database %s", name)
		var refused *pgconn.PgError
		if errors.As(err, &refused) && refused.Code == objectInUse {
			continue // a session has not ended yet, although the server waited for seconds
		}
		return err
	}
}

// exec runs a statement in which the names are quoted.
func exec(ctx context.Context, conn *pgx.Conn, format string, names ...string) error {
	quoted := make([]any, len(names))
	for i, name := range names {
		quoted[i] = pgx.Identifier{name}.Sanitize()
	}
	statement := fmt.Sprintf(format, quoted...)
	if _, err := conn.Exec(ctx, statement); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

// withDatabase returns the URL of another database of the same server.
func withDatabase(server, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil || u.Scheme == "" {
		return "", fmt.Errorf("read %s: want a URL such as postgres://postgres@localhost:5432/postgres", serverVariable)
	}
	u.Path = "/" + name
	return u.String(), nil
}

// Example is [Database] for an Example function, which has no testing.TB. It returns the URL of the database and a
// function that drops it. Errors panic, which fails the example.
func Example() (databaseURL string, drop func()) {
	tb := &exampleTB{}
	return Database(tb), tb.finish
}

// exampleTB implements the methods of testing.TB that [Database] uses.
type exampleTB struct {
	testing.TB
	cleanups []func()
}

func (*exampleTB) Helper()                        {}
func (*exampleTB) Fatal(args ...any)              { panic(fmt.Sprint(args...)) }
func (*exampleTB) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }
func (*exampleTB) Errorf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }
func (e *exampleTB) Cleanup(f func())             { e.cleanups = append(e.cleanups, f) }

func (e *exampleTB) finish() {
	for i := len(e.cleanups) - 1; i >= 0; i-- {
		e.cleanups[i]()
	}
}

// QueryModes are the ways in which pgx sends statements.
var QueryModes = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec,
	pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol,
}

// PoolInMode returns a pool that sends statements in this way, until the test ends.
func PoolInMode(t testing.TB, databaseURL string, mode pgx.QueryExecMode) *pgxpool.Pool {
	t.Helper()
	config, err := pgxpool.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	config.ConnConfig.DefaultQueryExecMode = mode
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}

// Role creates a role without the right to log in. After the test it is dropped with everything that it owns in the
// pool's database.
func Role(t testing.TB, pool *pgxpool.Pool) (name string) {
	t.Helper()
	name = "gw_test_" + strings.ToLower(rand.Text())
	Exec(t, pool, "create role "+name)
	t.Cleanup(func() {
		for _, statement := range []string{"drop owned by " + name + " cascade", "drop role " + name} {
			if _, err := pool.Exec(context.Background(), statement); err != nil {
				t.Error(err)
			}
		}
	})
	return name
}
