package cron_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

// BenchmarkTick measures a tick with a thousand items, some of which are due every minute and the others once a day.
func BenchmarkTick(b *testing.B) {
	for _, due := range []int{0, 10, 1000} {
		b.Run(fmt.Sprintf("%d due", due), func(b *testing.B) {
			pool := onePool(b)
			var items []item
			for i := range 1000 {
				pattern := "* * * * *"
				if i >= due {
					pattern = fmt.Sprintf("%d %d * * *", i%59, i%24)
				}
				items = append(items, newItem(fmt.Sprintf("item%d", i), pattern, "", time.Hour))
			}
			text, since := itemsJSON(b, items), noon.Add(59*time.Minute)
			// At minute 59 of each hour, when no other item is due.
			next := func() {
				now := since.Add(time.Hour)
				before := now.Add(-time.Minute)
				if _, err := tick(b.Context(), pool, text, &before, now); err != nil {
					b.Fatal(err)
				}
				since = now
			}
			for range 6 { // afterwards the plans are cached
				next()
			}
			for b.Loop() {
				next()
			}
		})
	}
}

// BenchmarkBackfillOfAMonth measures the start of a worker that backfills every minute of a month.
func BenchmarkBackfillOfAMonth(b *testing.B) {
	pool := onePool(b)
	now := noon
	text := itemsJSON(b, []item{newItem("minutely", "* * * * *", "", 31*24*time.Hour)})
	if _, err := tick(b.Context(), pool, text, nil, now); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		now = now.Add(31 * 24 * time.Hour)
		a, err := tick(b.Context(), pool, text, nil, now)
		if err != nil || len(a.Scheduled) < 44000 {
			b.Fatalf("%d scheduled, %v", len(a.Scheduled), err)
		}
	}
}

// BenchmarkNext measures cron_next for patterns that rarely match.
func BenchmarkNext(b *testing.B) {
	for _, pattern := range []string{"* * * * *", "30 2 * * 1", "0 0 29 2 *", "59 23 30 2 *"} {
		for _, zone := range []string{"UTC", "Australia/Lord_Howe"} {
			b.Run(pattern+" "+zone, func(b *testing.B) {
				pool := onePool(b)
				for b.Loop() {
					pgtest.Value[*time.Time](b, pool, "select graphile_worker.cron_next($1, '2096-03-01Z', $2)",
						pattern, zone)
				}
			})
		}
	}
}

// onePool returns a pool with one connection, which keeps its cached plans.
func onePool(b *testing.B) *pgxpool.Pool {
	b.Helper()
	config := pgtest.Pool(b, pgtest.Database(b)).Config()
	config.MaxConns = 1
	pool, err := pgxpool.NewWithConfig(b.Context(), config)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(pool.Close)
	return pool
}
