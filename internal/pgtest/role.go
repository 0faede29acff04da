package pgtest

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
)

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
