package pgtest

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// CutUntil ends sessions of the database, one every 50 ms and most in all, until as many calls have ended as the channel has room
// for. It fails the test with their errors, or if there was no session to end. sessions is a condition for pg_stat_activity.
func CutUntil(t testing.TB, pool *pgxpool.Pool, ended <-chan error, sessions string, most int) {
	t.Helper()
	cuts := 0
	for calls := 0; calls < cap(ended); {
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
			calls++
		case <-time.After(50 * time.Millisecond):
			if cuts < most {
				cuts += Value[int](t, pool, `
					select count(pg_terminate_backend(pid))
					  from (select pid from pg_stat_activity
					         where datname = current_database() and pid <> pg_backend_pid() and `+sessions+` limit 1) as b`)
			}
		}
	}
	if cuts == 0 {
		t.Error("no session was ended")
	}
}
