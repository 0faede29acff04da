package pgtest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	hurriedDeadAfter = "2 seconds"
	// slowDeadAfter holds from slowTime on: on a machine that stands still for a second now and again, nobody beats for long
	// enough without a gap to tell within two seconds who is dead.
	slowDeadAfter = "12 seconds"
	slowTime      = 20 * time.Second
)

// Hurry makes workers find their dead within seconds, and has the jobs of these run at once.
func Hurry(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	const deadAfter = "select graphile_worker.set_setting('dead_after', $1)"
	Exec(t, pool, deadAfter, hurriedDeadAfter)
	Exec(t, pool, "select graphile_worker.set_setting('recovered_jobs', 'run')")
	relent := time.AfterFunc(slowTime, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, _ = pool.Exec(ctx, deadAfter, slowDeadAfter) // if not, its server is having a bad time, or the test is over
	})
	t.Cleanup(func() { relent.Stop() })
}
