package cron_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

// An item is an item of the argument of run_cron.
type item struct {
	Identifier string         `json:"identifier"`
	Task       string         `json:"task"`
	Pattern    string         `json:"pattern"`
	TimeZone   string         `json:"time_zone,omitempty"`
	Payload    map[string]any `json:"payload,omitempty"`
	Fill       int            `json:"fill,omitempty"` // seconds
}

// newItem returns an item whose jobs have its identifier in their payload.
func newItem(identifier, pattern, zone string, fill time.Duration) item {
	return item{identifier, "note", pattern, zone, map[string]any{"id": identifier}, int(fill.Seconds())}
}

func itemsJSON(t testing.TB, items []item) string {
	t.Helper()
	text, err := json.Marshal(items)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// An answer is the row of run_cron.
type answer struct {
	Handled   time.Time
	Delay     time.Duration
	Scheduled []run
	Problems  []struct{ Identifier, Problem string }
}

// A run is one minute of one recurring job.
type run struct {
	Identifier string    `json:"identifier"`
	At         time.Time `json:"ts"`
	Backfilled bool      `json:"backfilled"`
}

// querier is a connection or a pool.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
}

// tick calls run_cron. since is nil for a worker that has just started.
func tick(ctx context.Context, q querier, items string, since *time.Time, now time.Time) (answer, error) {
	rows, err := q.Query(ctx, `
		select r.handled, r.delay, r.scheduled, r.problems from graphile_worker.run_cron($1, $2, $3) as r`, items,
		since, now)
	if err != nil {
		return answer{}, err
	}
	return pgx.CollectExactlyOneRow(rows, pgx.RowToStructByPos[answer])
}

// added returns the number of jobs for each minute of each recurring job, separately for backfilled ones, according to their
// payloads.
func added(t testing.TB, pool *pgxpool.Pool) map[string]int {
	t.Helper()
	rows, _ := pool.Query(t.Context(), `
		select j.payload ->> 'id', j.run_at, (j.payload -> '_cron' ->> 'backfilled')::boolean
		  from graphile_worker._private_jobs as j
		 where j.run_at = (j.payload -> '_cron' ->> 'ts')::timestamptz`)
	counts := map[string]int{}
	var r run
	_, err := pgx.ForEachRow(rows, []any{&r.Identifier, &r.At, &r.Backfilled}, func() error {
		counts[r.String()]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

func (r run) String() string {
	return fmt.Sprintf("%s %s %v", r.Identifier, r.At.UTC().Format("2006-01-02T15:04"), r.Backfilled)
}

// between returns the runs of an item from cron_between.
func (i item) between(t testing.TB, pool *pgxpool.Pool, since, until time.Time) []time.Time {
	t.Helper()
	zone := i.TimeZone
	if zone == "" {
		zone = "UTC"
	}
	return pgtest.Value[[]time.Time](t, pool, `select array(select graphile_worker.cron_between($1, $2, $3, $4))`,
		i.Pattern, since, until, zone)
}
