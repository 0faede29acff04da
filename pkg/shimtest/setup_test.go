package shimtest_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shim"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// recorder is a shimtest.TB that keeps what it was told instead of ending the test.
type recorder struct{ failure string }

func (*recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	if r.failure == "" {
		r.failure = fmt.Sprintf(format, args...)
	}
}

func newPool(t *testing.T) *pgxpool.Pool { return pgtest.Pool(t, pgtest.Database(t)) }

// begin begins a transaction that is rolled back after the test.
func begin(t *testing.T, pool *pgxpool.Pool) pgx.Tx {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(context.Background()) })
	return tx
}

func newWorker(t *testing.T, pool *pgxpool.Pool) *shim.Worker {
	t.Helper()
	w, err := shim.New(pool, shim.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return w
}
