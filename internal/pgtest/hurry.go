package pgtest

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	hurriedDeadAfter = "2 seconds"
	// slowDeadAfter is the value of dead_after after slowTime. On a machine that pauses for a second now and then,
	// heartbeats have gaps, so that live workers would count as dead after two seconds.
	slowDeadAfter = "12 seconds"
	slowTime      = 20 * time.Second
)

// Hurry sets dead_after to seconds, so that workers find dead workers soon, and makes recovered jobs run at once.
func Hurry(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	const deadAfter = "select graphile_worker.set_setting('dead_after', $1)"
	Exec(t, pool, deadAfter, hurriedDeadAfter)
	Exec(t, pool, "select graphile_worker.set_setting('recovered_jobs', 'run')")
	relent := time.AfterFunc(slowTime, func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, _ = pool.Exec(ctx, deadAfter, slowDeadAfter) // fails if the server is down or the test is over
	})
	t.Cleanup(func() { relent.Stop() })
}
