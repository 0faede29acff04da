package languages

import (
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

// shop returns the URL of a database with the queue and the table of the examples, and a pool of connections to it.
func shop(t *testing.T) (string, *pgxpool.Pool) {
	t.Helper()
	database := pgtest.Database(t)
	pool := pgtest.Pool(t, database)
	schema, err := os.ReadFile(examples + "/orders.sql")
	if err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, pool, string(schema))
	return database, pool
}
