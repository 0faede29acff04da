package crontab

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestTheDatabaseRefusesThePatternsThatTheTableRefuses(t *testing.T) {
	pool := pgtest.Pool(t, pgtest.Database(t))
	for _, row := range readPatterns(t).Invalid {
		var next *time.Time
		err := pool.QueryRow(t.Context(), "select graphile_worker.cron_next($1, now())", row.Pattern).Scan(&next)
		var refusal *pgconn.PgError
		if !errors.As(err, &refusal) || refusal.Code != "GWRPT" {
			t.Errorf("%s: got %v and the error %v, want GWRPT", row.Pattern, next, err)
			continue
		}
		before, after, _ := strings.Cut(row.Message, "{source}")
		if !strings.HasPrefix(refusal.Message, before) || !strings.HasSuffix(refusal.Message, after) {
			t.Errorf("%s: got\n%s, want\n%s", row.Pattern, refusal.Message, row.Message)
		}
	}
}

func TestTheDatabaseMatchesWhatTheTableLists(t *testing.T) {
	pool := pgtest.Pool(t, pgtest.Database(t))
	random := rand.New(rand.NewPCG(1, 0))
	for _, row := range readPatterns(t).Valid {
		fields := [][]int{
			or(row.Minutes, 0, 59), or(row.Hours, 0, 23), or(row.Dates, 1, 31), or(row.Months, 1, 12),
			or(row.Dows, 0, 6),
		}
		times, want := make([]time.Time, 500), make([]bool, 500)
		for i := range times {
			times[i] = someTime(random, fields)
			want[i] = matches(fields, times[i])
		}
		got := pgtest.Value[[]bool](t, pool, `select array_agg(graphile_worker.cron_matches($1, t.at) order by t.number)
			from unnest($2::timestamptz[]) with ordinality as t (at, number)`, row.Pattern, times)
		for i := range times {
			if got[i] != want[i] {
				t.Errorf("%s at %s: %v, want %v", row.Pattern, times[i].Format("Mon 2006-01-02 15:04"), got[i], want[i])
			}
		}
	}
}

// someTime returns a time in which each field is either one of the listed values or random.
func someTime(random *rand.Rand, fields [][]int) time.Time {
	value := func(field, low, high int) int {
		if random.IntN(4) == 0 {
			return low + random.IntN(high-low+1)
		}
		return fields[field][random.IntN(len(fields[field]))]
	}
	return time.Date(2020+random.IntN(20), time.Month(value(3, 1, 12)), value(2, 1, 31), value(1, 0, 23),
		value(0, 0, 59), 0, 0, time.UTC)
}

func matches(fields [][]int, at time.Time) bool {
	date, weekday := slices.Contains(fields[2], at.Day()), slices.Contains(fields[4], int(at.Weekday()))
	day := date && weekday
	if len(fields[2]) < 31 && len(fields[4]) < 7 {
		day = date || weekday
	}
	return day && slices.Contains(fields[0], at.Minute()) && slices.Contains(fields[1], at.Hour()) &&
		slices.Contains(fields[3], int(at.Month()))
}
