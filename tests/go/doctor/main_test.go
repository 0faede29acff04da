// Package doctor_test asks doctor() about what takes more than one session to bring about. What one session can do is in
// tests/sql/doctor.
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

// install puts the queue into a database and returns a pool for it.
func install(t *testing.T, databaseURL string) *pgxpool.Pool {
	t.Helper()
	config, err := pgx.ParseConfig(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	migrator, err := migrate.New(config, migrate.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := migrator.Up(t.Context()); err != nil {
		t.Fatal(err)
	}
	return pgtest.Pool(t, databaseURL)
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

// visit runs statements in a session that ends with them, for only then its statistics are sure to be counted.
func visit(t *testing.T, databaseURL string, statements ...string) {
	t.Helper()
	if err := session(t, databaseURL, statements...).Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// told is a condition: doctor() has a finding of this kind about this subject.
const told = `select exists (select from graphile_worker.doctor() as d where d.finding = $1 and d.subject = $2)`

// over is its opposite.
const over = `select not exists (select from graphile_worker.doctor() as d where d.finding = $1 and d.subject = $2)`

// remedy returns the statement that doctor() says to type.
func remedy(t *testing.T, pool *pgxpool.Pool, finding, subject string) string {
	t.Helper()
	text := pgtest.Value[string](t, pool,
		"select d.remedy from graphile_worker.doctor() as d where d.finding = $1 and d.subject = $2", finding, subject)
	_, statement, found := strings.Cut(text, " with: ")
	if !found {
		t.Fatalf("the remedy says no statement: %s", text)
	}
	return statement
}
