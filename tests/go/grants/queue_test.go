package grants

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/migrate"
)

// kinds are the roles of every test: the owner of the queue, who is not a superuser; one of each kind, including a producer limited
// to tasks; and one without grants.
var kinds = []string{"owner", "producer", "limited", "worker", "scheduler", "monitor", "admin", "bystander"}

// queue is a database with a queue that belongs to the role owner.
type queue struct {
	t      *testing.T
	url    string
	schema string            // not quoted
	roles  map[string]string // names by kind
	pool   *pgxpool.Pool     // connects as the owner
	admin  *pgxpool.Pool     // connects as the superuser
}

// newQueue creates roles and a database, and calls prepare before the queue is installed.
func newQueue(t *testing.T, schema string, prepare func(*queue)) *queue {
	t.Helper()
	q := &queue{t: t, schema: schema, roles: make(map[string]string)}
	q.makeRoles()
	database := pgtest.EmptyDatabase(t)
	q.url = database
	q.admin = pgtest.Pool(t, database)
	q.execAs(q.admin, fmt.Sprintf("grant create on database %s to {owner}",
		quote(q.admin.Config().ConnConfig.Database)))
	q.pool = pgtest.Pool(t, q.as("owner"))
	if prepare != nil {
		prepare(q)
	}
	if _, err := q.migrator().Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	return q
}

// makeRoles creates the roles. It is called before the database is created, so that the roles are dropped after it.
func (q *queue) makeRoles() {
	server, err := pgx.Connect(q.t.Context(), os.Getenv("GW_TEST_DATABASE_URL"))
	if err != nil {
		q.t.Fatal(err)
	}
	suffix := strings.ToLower(rand.Text())
	for _, kind := range kinds {
		name := kind + ` "x" ` + suffix // to be quoted
		q.roles[kind] = name
		if _, err := server.Exec(q.t.Context(), "create role "+quote(name)+" login password 'secret'"); err != nil {
			q.t.Fatal(err)
		}
	}
	q.t.Cleanup(func() {
		for _, name := range q.roles {
			if _, err := server.Exec(context.Background(), "drop role "+quote(name)); err != nil {
				q.t.Error(err)
			}
		}
		_ = server.Close(context.Background())
	})
}

// as returns the database's URL for a role.
func (q *queue) as(kind string) string {
	u, err := url.Parse(q.url)
	if err != nil {
		q.t.Fatal(err)
	}
	u.User = url.UserPassword(q.roles[kind], "secret")
	return u.String()
}

func (q *queue) migrator() *migrate.Migrator { return q.migratorAs("owner") }

func (q *queue) migratorAs(kind string) *migrate.Migrator {
	q.t.Helper()
	config, err := pgx.ParseConfig(q.as(kind))
	if err != nil {
		q.t.Fatal(err)
	}
	m, err := migrate.New(config, migrate.Config{Schema: q.schema})
	if err != nil {
		q.t.Fatal(err)
	}
	return m
}

// everybody returns grants for one role of each kind.
func (q *queue) everybody() migrate.Grants {
	return migrate.Grants{
		Producers: []string{q.roles["producer"]}, Workers: []string{q.roles["worker"]},
		Schedulers: []string{q.roles["scheduler"]}, Monitors: []string{q.roles["monitor"]},
		Admins: []string{q.roles["admin"]},
	}
}

func (q *queue) limited() migrate.Grants {
	return migrate.Grants{Producers: []string{q.roles["limited"]}, Tasks: []string{"mail", "resize-image"}}
}

// grant grants all roles their rights.
func (q *queue) grant() {
	q.t.Helper()
	for _, grants := range []migrate.Grants{q.everybody(), q.limited()} {
		if _, err := q.migrator().Grant(q.t.Context(), grants); err != nil {
			q.t.Fatal(err)
		}
	}
}

// text inserts names: S. is the queue's schema, API. the roles' schema, {kind} a role.
func (q *queue) text(sql string) string {
	sql = strings.ReplaceAll(sql, "API.", quote(q.schema+"_api")+".")
	sql = strings.ReplaceAll(sql, "S.", quote(q.schema)+".")
	for kind, name := range q.roles {
		sql = strings.ReplaceAll(sql, "{"+kind+"}", quote(name))
	}
	return sql
}

func (q *queue) exec(sql string, args ...any) { q.t.Helper(); q.execAs(q.pool, sql, args...) }

func (q *queue) execAs(pool *pgxpool.Pool, sql string, args ...any) {
	q.t.Helper()
	pgtest.Exec(q.t, pool, q.text(sql), args...)
}

// poolAs connects as a role.
func (q *queue) poolAs(kind string) *pgxpool.Pool { q.t.Helper(); return pgtest.Pool(q.t, q.as(kind)) }

// refused checks that a statement fails with a code.
func (q *queue) refused(pool *pgxpool.Pool, code, sql string) {
	q.t.Helper()
	_, err := pool.Exec(q.t.Context(), q.text(sql))
	if got := sqlstate.Of(err); got != code {
		q.t.Errorf("%s: want %s, got %v", sql, code, err)
	}
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
