package migrate_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/sql"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func newMigrator(t *testing.T, databaseURL string, cfg migrate.Config) *migrate.Migrator {
	t.Helper()
	return newMigratorFrom(t, databaseURL, cfg, sql.FS)
}

func newMigratorFrom(t *testing.T, databaseURL string, cfg migrate.Config, files fs.FS) *migrate.Migrator {
	t.Helper()
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	m, err := migrate.NewFrom(config, cfg, files)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func up(t *testing.T, databaseURL string, cfg migrate.Config) migrate.Result {
	t.Helper()
	result, err := newMigrator(t, databaseURL, cfg).Up(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func connect(t *testing.T, databaseURL string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func execute(t *testing.T, conn *pgx.Conn, statements string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statements); err != nil {
		t.Fatalf("%s: %v", statements, err)
	}
}

func available(t *testing.T) int32 {
	t.Helper()
	version, err := migrate.Available()
	if err != nil {
		t.Fatal(err)
	}
	return version
}

// withMigrations returns our files with more migrations after ours, named 00000N_more.sql.
func withMigrations(t *testing.T, more ...string) fstest.MapFS {
	t.Helper()
	files := copyFiles(t)
	for i, text := range more {
		name := fmt.Sprintf("migrations/%06d_more.sql", available(t)+1+int32(i))
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return files
}

func copyFiles(t *testing.T) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	err := fs.WalkDir(sql.FS, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := fs.ReadFile(sql.FS, path)
		files[path] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// newRole makes a role that can log in. Call it before the database is made, whose objects it may own.
func newRole(t *testing.T) (name string) {
	t.Helper()
	server := connect(t, os.Getenv("GW_TEST_DATABASE_URL"))
	name = "gw_test_" + strings.ToLower(rand.Text())
	execute(t, server, "create role "+name+" login password 'secret'")
	t.Cleanup(func() {
		if _, err := server.Exec(context.Background(), "drop role "+name); err != nil {
			t.Error(err)
		}
	})
	return name
}

// as returns the URL for another role, and for other session settings if there are any: "-c name=value".
func as(t *testing.T, databaseURL, role, options string) string {
	t.Helper()
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	if role != "" {
		u.User = url.UserPassword(role, "secret")
	}
	if options != "" {
		query := u.Query()
		query.Set("options", options)
		u.RawQuery = strings.ReplaceAll(query.Encode(), "+", "%20") // libpq's URLs know no + for a space
	}
	return u.String()
}

func refusalOf(t *testing.T, err error) *migrate.Refusal {
	t.Helper()
	var refusal *migrate.Refusal
	if !errors.As(err, &refusal) {
		t.Fatalf("no refusal but %v", err)
	}
	return refusal
}

// identity lists every object of the database with its oid and the transaction that wrote it last: equal lists mean
// that nothing was changed, not even there and back.
func identity(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	return texts(t, conn, `
		select format('schema %s %s %s', n.oid, n.nspname, n.xmin) from pg_namespace as n
		union all
		select format('relation %s %s %s', c.oid, c.relname, c.xmin) from pg_class as c where c.oid >= 16384
		union all
		select format('function %s %s %s', p.oid, p.proname, p.xmin) from pg_proc as p where p.oid >= 16384
		union all
		select format('type %s %s %s', y.oid, y.typname, y.xmin) from pg_type as y where y.oid >= 16384
		union all
		select format('constraint %s %s %s', o.oid, o.conname, o.xmin) from pg_constraint as o where o.oid >= 16384
		order by 1`)
}

// shape describes everything in the schemas of the database, without what differs from one install to the next.
func shape(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	return texts(t, conn, `
		with ours as (
		  select n.oid, n.nspname, n.nspowner, n.nspacl from pg_namespace as n
		   where n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
		)
		select format('schema %I owner %s acl %s', o.nspname, o.nspowner::regrole, o.nspacl) from ours as o
		union all
		select format('relation %I kind %s owner %s acl %s rls %s comment %s view %s', c.relname, c.relkind,
		              c.relowner::regrole, c.relacl, c.relrowsecurity, obj_description(c.oid, 'pg_class'),
		              case when c.relkind = 'v' then pg_get_viewdef(c.oid) end)
		  from pg_class as c join ours as o on o.oid = c.relnamespace
		union all
		select format('column %I.%I #%s %s not null %s identity %s generated %s default %s comment %s', c.relname, a.attname,
		              a.attnum, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated,
		              pg_get_expr(d.adbin, d.adrelid), col_description(c.oid, a.attnum))
		  from pg_attribute as a join pg_class as c on c.oid = a.attrelid join ours as o on o.oid = c.relnamespace
		  left join pg_attrdef as d on d.adrelid = c.oid and d.adnum = a.attnum
		 where a.attnum > 0
		union all
		select format('constraint %I %s', k.conname, pg_get_constraintdef(k.oid))
		  from pg_constraint as k join ours as o on o.oid = k.connamespace
		union all
		select format('index %s', pg_get_indexdef(i.indexrelid))
		  from pg_index as i join pg_class as c on c.oid = i.indexrelid join ours as o on o.oid = c.relnamespace
		union all
		select format('trigger %s comment %s', pg_get_triggerdef(g.oid), obj_description(g.oid, 'pg_trigger'))
		  from pg_trigger as g join pg_class as c on c.oid = g.tgrelid join ours as o on o.oid = c.relnamespace
		union all
		select format('function %s acl %s comment %s', pg_get_functiondef(p.oid), p.proacl, obj_description(p.oid, 'pg_proc'))
		  from pg_proc as p join ours as o on o.oid = p.pronamespace
		order by 1`)
}

func texts(t *testing.T, conn *pgx.Conn, query string, args ...any) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// differences returns what is in one list only.
func differences(a, b []string) []string {
	var found []string
	for _, line := range a {
		if !slices.Contains(b, line) {
			found = append(found, "- "+line)
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			found = append(found, "+ "+line)
		}
	}
	return found
}
