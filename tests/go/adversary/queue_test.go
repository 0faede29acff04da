package adversary

import (
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
)

// kinds are the kinds of roles; producers that are limited to tasks are a kind of their own.
var kinds = []string{"producer", "limited", "worker", "scheduler", "monitor", "admin"}

// database is a queue with a role of each kind, whose owner is not a superuser.
type database struct {
	url    string
	roles  map[string]string // names by kind
	owner  *pgxpool.Pool
	server *pgxpool.Pool // of the role that sees the sessions of all
}

func newDatabase(t *testing.T) *database {
	t.Helper()
	d := &database{roles: make(map[string]string)}
	d.makeRoles(t)
	d.url = pgtest.EmptyDatabase(t)
	d.server = pgtest.Pool(t, d.url)
	pgtest.Exec(t, d.server, "grant create on database "+quote(d.server.Config().ConnConfig.Database)+" to "+quote(d.roles["owner"]))
	d.owner = pgtest.Pool(t, d.as("owner"))
	migrator, err := migrate.New(d.owner.Config().ConnConfig, migrate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrator.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, grants := range []migrate.Grants{
		{Producers: []string{d.roles["limited"]}, Tasks: append([]string{"wild"}, hostileTasks...)},
		{
			Producers: []string{d.roles["producer"]}, Workers: []string{d.roles["worker"], d.roles["honest"]},
			Schedulers: []string{d.roles["scheduler"]}, Monitors: []string{d.roles["monitor"]},
			Admins: []string{d.roles["admin"]},
		},
	} {
		if _, err := migrator.Grant(t.Context(), grants); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// makeRoles creates the roles. It is called before the database is created, so that the roles are dropped after it.
func (d *database) makeRoles(t *testing.T) {
	t.Helper()
	server, err := pgx.Connect(t.Context(), os.Getenv("GW_TEST_DATABASE_URL"))
	if err != nil {
		t.Fatal(err)
	}
	suffix := strings.ToLower(rand.Text())
	for _, kind := range append([]string{"owner", "honest"}, kinds...) {
		d.roles[kind] = kind + "_" + suffix
		if _, err := server.Exec(t.Context(), "create role "+quote(d.roles[kind])+" login password 'secret'"); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, name := range d.roles {
			if _, err := server.Exec(context.Background(), "drop role "+quote(name)); err != nil {
				t.Error(err)
			}
		}
		_ = server.Close(context.Background())
	})
}

// as returns the database's URL for the role of a kind.
func (d *database) as(kind string) string {
	u, err := url.Parse(d.url)
	if err != nil {
		panic(err) // pgtest made it
	}
	u.User = url.UserPassword(d.roles[kind], "secret")
	return u.String()
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
