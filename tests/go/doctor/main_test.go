// Package doctor_test tests findings of doctor() that need more than one session. tests/sql/doctor tests the others.
package doctor_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/migrate"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// install installs the queue in a database and returns a pool.
func install(t *testing.T, databaseURL string) *pgxpool.Pool {
	t.Helper()
	if _, err := migrator(t, databaseURL).Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	return pgtest.Pool(t, databaseURL)
}

func migrator(t *testing.T, databaseURL string) *migrate.Migrator {
	t.Helper()
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	m, err := migrate.New(config, migrate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// session opens a connection of its own, closed after the test, and runs statements on it.
func session(t *testing.T, databaseURL string, statements ...string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	for _, statement := range statements {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	return conn
}

// visit runs statements in a session that ends afterwards, because only then its statistics are certainly reported.
func visit(t *testing.T, databaseURL string, statements ...string) {
	t.Helper()
	if err := session(t, databaseURL, statements...).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// told selects whether doctor() has a finding of this kind about this subject.
const told = `select exists (select from graphile_worker.doctor() as d where d.finding = $1 and d.subject = $2)`

// over selects whether doctor() no longer has that finding.
const over = `select not exists (select from graphile_worker.doctor() as d where d.finding = $1 and d.subject = $2)`

// remedy returns the statement in the remedy of a finding.
func remedy(t *testing.T, pool *pgxpool.Pool, finding, subject string) string {
	t.Helper()
	text := pgtest.Value[string](t, pool,
		"select d.remedy from graphile_worker.doctor() as d where d.finding = $1 and d.subject = $2", finding, subject)
	_, statement, found := strings.Cut(text, " with: ")
	if !found {
		t.Fatalf("the remedy contains no statement: %s", text)
	}
	return statement
}
