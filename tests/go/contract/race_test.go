package contract

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

const raceDifference = "A keyed job that is claimed during add_job"

// A worker's claim of the job with the key commits while add_job waits for the row.
func TestAKeyedAddJobThatRacesWithAClaim(t *testing.T) {
	node, ours := stages(t)
	if got, want := node.raceWithClaim(t), "null|0"; got != want {
		t.Errorf("Graphile Worker's add_job returns %s, want %s", got, want)
	}
	if got, want := ours.raceWithClaim(t), `[2]|1`; got != want {
		t.Errorf("our add_job returns %s, want %s", got, want)
	}
}

// raceWithClaim returns the payload of the row that add_job returned, and the number of jobs that wait with the key afterwards.
func (s *stage) raceWithClaim(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	claimer, err := pgx.ConnectConfig(ctx, s.conn.Config())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = claimer.Close(ctx) }()
	run := func(sql string, args ...any) {
		t.Helper()
		if _, err := claimer.Exec(ctx, sql, args...); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}

	s.play(t, []string{`select id from add_job('a', '[1]', job_key => 'k')`})
	run("begin")
	run("call public.hold('{1}', 'worker')")
	pid := s.conn.PgConn().PID()
	added := make(chan string, 1)
	go func() { added <- s.step(t, `select payload from add_job('a', '[2]', job_key => 'k')`) }()
	for waits := false; !waits; {
		err := claimer.QueryRow(ctx, "select coalesce(wait_event_type, '') = 'Lock' from pg_stat_activity where pid = $1", int64(pid)).Scan(&waits)
		if err != nil {
			t.Fatalf("wait until add_job waits: %v", err)
		}
	}
	run("commit")
	payload := firstLine(<-added)
	return payload + "|" + firstLine(s.step(t, `select count(*) from jobs where key = 'k' and locked_at is null`))
}
