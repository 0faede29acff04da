package shim

import (
	"context"
	"log/slog"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// The jobs of a worker that is no longer registered are recovered after four hours, not within seconds.
func TestAWorkerThatCannotFreeItsJobsStaysRegistered(t *testing.T) {
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Database(t))
	s := &session{loop: loop{
		queries: &queries{pool: pool, schema: "graphile_worker", workerID: "gw-one"},
		logger:  slog.New(slog.DiscardHandler),
	}}
	if err := s.queries.register(t.Context(), identity{concurrency: 1}); err != nil {
		t.Fatal(err)
	}
	registered := func() (is bool) {
		t.Helper()
		return pgtest.Value[bool](t, pool, "select exists (select from graphile_worker._gw_workers)")
	}
	pgtest.Exec(t, pool, "alter function graphile_worker.force_unlock_workers rename to away")
	s.leave(context.Background(), true)
	if !registered() {
		t.Error("it has gone, and left its jobs locked")
	}
	pgtest.Exec(t, pool, "alter function graphile_worker.away rename to force_unlock_workers")
	s.leave(context.Background(), true)
	if registered() {
		t.Error("it is still registered")
	}
}
