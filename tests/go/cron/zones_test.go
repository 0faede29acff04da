package cron_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

// zonePatterns are tested around every change of a zone's offset, in addition to random patterns.
var zonePatterns = []string{
	// Patterns that run by elapsed time.
	"* * * * *", "*/15 * * * *", "30 * * * *", "15 1-3 * * *", "0 */2 * * *", "5,35 0-23 * * *", "0 0,1-2 * * *",
	// Patterns that run at fixed local times.
	"30 2 * * *", "0,30 0,1,2,3 * * *", "0 0 * * *", "59 23 * * *", "0 12 * * *", "1 0 * * 0", "*/7 1,2,23 * * 0,1,6",
	"30 2 28-31 3,10 *",
}

// A stretch is a time around a change of a zone's offset, minute by minute as the database knows it.
type stretch struct {
	zone   string
	since  time.Time
	locals []int64 // local time of the minutes after since, in minutes since 1970
}

// The test takes the local times from the database and computes everything else itself.
func TestAllZonesOverTheirChangesOfAYear(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Database(t))
	// One zone is tested for all zones with the same changes.
	zones := pgtest.Value[[]string](t, pool, `
		select array_agg(distinct s.first_zone)
		  from (select min(z.name) over (partition by array(
		                 select (d at time zone 'UTC') - (d at time zone z.name)
		                   from generate_series('2026-01-01'::timestamptz, '2027-01-01', '24 hours') as d)) as first_zone
		          from pg_timezone_names as z
		         where z.name !~ '^posix') as s`)
	changes, drawn := 0, pgtest.Draw(zones, 12)
	for _, zone := range drawn {
		for _, change := range zoneChanges(t, pool, zone, "2026-01-01", "2027-01-01") {
			changes++
			checkStretch(t, pool, readStretch(t, pool, zone, change))
		}
	}
	if len(drawn) == len(zones) && changes < 50 {
		t.Errorf("%d zones have %d changes in the year, want more than 50", len(zones), changes)
	}
}

// The test covers unusual changes.
func TestOddChangesOfZones(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	pool := pgtest.Pool(t, pgtest.Database(t))
	for _, odd := range []struct{ zone, since, until, what string }{
		{"Australia/Lord_Howe", "2025-01-01", "2026-01-01", "half an hour"},
		{"Pacific/Apia", "2011-09-01", "2012-06-01", "skips 30 December"},
		{"Pacific/Kwajalein", "1993-08-01", "1993-09-01", "skips 21 August"},
		{"America/Sao_Paulo", "2018-01-01", "2019-03-01", "from midnight"},
		{"Asia/Beirut", "2022-01-01", "2023-01-01", "from midnight"},
		{"America/Havana", "2025-01-01", "2026-01-01", "back at one"},
		{"America/St_Johns", "2010-01-01", "2011-01-01", "a minute after midnight, into the day before"},
		{"Antarctica/Troll", "2025-01-01", "2026-01-01", "two hours"},
		{"Africa/Casablanca", "2024-01-01", "2025-01-01", "back and forth in a month"},
		{"America/Caracas", "2016-01-01", "2017-01-01", "half an hour for good"},
		{"Asia/Pyongyang", "2018-01-01", "2019-01-01", "at half past eleven at night"},
		{"Europe/Dublin", "2025-01-01", "2026-01-01", "standard time in summer"},
		{"Asia/Manila", "1844-12-01", "1845-01-15", "skips a day, with seconds"},
		{"America/Juneau", "1867-10-01", "1867-11-01", "repeats a day"},
		{"Africa/Monrovia", "1971-12-01", "1972-02-01", "forward by 44:30"},
	} {
		changes := zoneChanges(t, pool, odd.zone, odd.since, odd.until)
		if len(changes) == 0 {
			t.Errorf("%s (%s) has no change", odd.zone, odd.what)
		}
		for _, change := range changes {
			checkStretch(t, pool, readStretch(t, pool, odd.zone, change))
		}
	}
}

// zoneChanges returns the days on which the offset changes.
func zoneChanges(t *testing.T, pool *pgxpool.Pool, zone, since, until string) []time.Time {
	t.Helper()
	return pgtest.Value[[]time.Time](t, pool, `
		select array(select d
		               from generate_series(($2 || 'Z')::timestamptz, ($3 || 'Z')::timestamptz, '24 hours') as d
		              where (d at time zone $1) - (d at time zone 'UTC') <>
		                    ((d + interval '24 hours') at time zone $1) - ((d + interval '24 hours') at time zone 'UTC'))`,
		zone, since, until)
}

func readStretch(t *testing.T, pool *pgxpool.Pool, zone string, change time.Time) stretch {
	t.Helper()
	since := change.Add(-60 * time.Hour)
	return stretch{zone, since, pgtest.Value[[]int64](t, pool, `
		select array(select floor(extract(epoch from m at time zone $1) / 60)::bigint
		               from generate_series($2::timestamptz + interval '1 minute', $2::timestamptz + interval '120 hours', '1 minute') as m)`,
		zone, since)}
}

// runs returns the minutes of a stretch at which a pattern runs.
func (s stretch) runs(p pattern) []int {
	var runs []int
	been := map[int64]bool{}
	for i, local := range s.locals {
		due := p.matches(time.Unix(local*60, 0).UTC())
		if p.byClock {
			due = due && !been[local]
			for skipped := s.locals[max(i-1, 0)] + 1; skipped < local && !been[skipped]; skipped++ {
				due = due || p.matches(time.Unix(skipped*60, 0).UTC())
			}
			been[local] = true
		}
		if due {
			runs = append(runs, i+1)
		}
	}
	return runs
}

// checkStretch compares the runs of patterns in a stretch, except on its first day, because the time before it is not known.
func checkStretch(t *testing.T, pool *pgxpool.Pool, s stretch) {
	t.Helper()
	// The change is on the day after 60 hours; every fifth pattern is also tested minute by minute.
	const day, dueFrom, dueUntil = 1440, 60*60 - 90, 84*60 + 90
	random := rand.New(rand.NewPCG(5, uint64(s.since.Unix())))
	texts := slices.Clone(zonePatterns)
	for range 5 {
		texts = append(texts, fmt.Sprintf("%d %d,%d * * *", random.IntN(60), random.IntN(24), random.IntN(4)),
			fmt.Sprintf("*/%d * * * %d,%d", 1+random.IntN(60), random.IntN(7), random.IntN(7)))
	}
	rows, _ := pool.Query(t.Context(), `
		select p.text,
		       array(select (extract(epoch from r.run - $2) / 60)::integer
		               from graphile_worker.cron_between(p.text, $2::timestamptz + interval '24 hours', $2 + interval '120 hours', $3) as r (run)),
		       p.number % 5 = $4,
		       array(select m.minute
		               from graphile_worker._gw_cron_parse(p.text, '') as c
		              cross join generate_series($5::integer, $6) as m (minute)
		              where p.number % 5 = $4
		                and graphile_worker._gw_cron_is_due(c, $2 + m.minute * interval '1 minute', $3))
		  from unnest($1::text[]) with ordinality as p (text, number)`,
		texts, s.since, s.zone, random.IntN(5), dueFrom, dueUntil)
	var text string
	var isAsked bool
	var between, due []int
	_, err := pgx.ForEachRow(rows, []any{&text, &between, &isAsked, &due}, func() error {
		p, err := parse(text, "")
		if err != nil {
			return err
		}
		want := slices.DeleteFunc(s.runs(p), func(minute int) bool { return minute <= day })
		if !slices.Equal(between, want) {
			t.Errorf("%s: %s after %s: %s", s.zone, text, s.since.UTC(), differing(between, want))
		}
		near := slices.DeleteFunc(want, func(minute int) bool { return minute < dueFrom || minute > dueUntil })
		if isAsked && !slices.Equal(due, near) {
			t.Errorf("%s: %s after %s: minutes that are due: %s", s.zone, text, s.since.UTC(), differing(due, near))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// differing describes the elements that are in only one of the lists.
func differing(got, want []int) string {
	var b strings.Builder
	for _, minute := range want {
		if !slices.Contains(got, minute) {
			fmt.Fprintf(&b, " lacks %d", minute)
		}
	}
	for _, minute := range got {
		if !slices.Contains(want, minute) {
			fmt.Fprintf(&b, " has %d", minute)
		}
	}
	return b.String()
}
