package limits

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

// Claims of limited jobs, and of other jobs beside them, send no notification; otherwise each of them would make all
// workers search.
func TestAClaimBesideLimitsNotifiesNobody(t *testing.T) {
	for name, add := range map[string]string{
		"one limited job of three":              `add_job('a') from generate_series(1, 3)`,
		"a limited job in front of another job": `add_job('a', run_at => '2020-01-01'), graphile_worker.add_job('plain')`,
		"another job in front of a limited job": `add_job('a'), graphile_worker.add_job('plain', run_at => '2020-01-01')`,
	} {
		t.Run(name, func(t *testing.T) {
			url := pgtest.Database(t)
			pool := pgtest.Pool(t, url)
			pgtest.Exec(t, pool, `
				select graphile_worker.set_limit('many', tasks => '{a}', max_running => 9);
				select graphile_worker.get_job('w', '{none}') from generate_series(1, 2);
				select graphile_worker.`+add)
			conn, err := pgx.Connect(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close(t.Context()) }()
			if _, err := conn.Exec(t.Context(), `listen "jobs:insert"`); err != nil {
				t.Fatal(err)
			}
			if n := pgtest.Value[int](t, pool, "select count(*) from graphile_worker.get_job_batch('w')"); n != 1 {
				t.Fatalf("claimed %d jobs", n)
			}
			pgtest.Exec(t, pool, `notify "jobs:insert", 'end'`)
			var told []string
			for !slices.Contains(told, "end") {
				notification, err := conn.WaitForNotification(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				told = append(told, notification.Payload)
			}
			if len(told) > 1 {
				t.Errorf("told are %q", told)
			}
		})
	}
}
