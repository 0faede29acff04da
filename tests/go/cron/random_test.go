package cron_test

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/pgtest"
)

var patterns = flag.Int("cron.patterns", 200, "how many random patterns to match over days")

const (
	batch = 100
	years = 20
)

var epoch = time.Date(2010, 1, 1, 0, 0, 0, 0, time.UTC)

// The test compares the matching minutes of whole days.
func TestRandomPatternsMatchOnRandomDays(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	pool := pgtest.Pool(t, pgtest.Database(t))
	for range *patterns / batch {
		var texts []string
		var days []time.Time
		for range batch {
			texts = append(texts, randomPattern(random))
		}
		for range 30 {
			days = append(days, epoch.AddDate(0, 0, random.IntN(years*365)))
		}
		rows, _ := pool.Query(t.Context(), `
			select p.text, d.day,
			       array(select (extract(epoch from r.run - d.day) / 60)::integer
			               from graphile_worker.cron_between(p.text, d.day - interval '1 minute',
			                                                 d.day + interval '1439 minutes') as r (run))
			  from unnest($1::text[]) as p (text)
			 cross join unnest($2::timestamptz[]) as d (day)`, texts, days)
		var text string
		var day time.Time
		var minutes []int
		_, err := pgx.ForEachRow(rows, []any{&text, &day, &minutes}, func() error {
			p, err := parse(text, "")
			if err != nil {
				return err
			}
			var want []int
			for minute := range 1440 {
				if p.matches(day.UTC().Add(time.Duration(minute) * time.Minute)) {
					want = append(want, minute)
				}
			}
			if !slices.Equal(minutes, want) {
				t.Errorf("%s on %s: minutes %v, want %v", text, day.UTC().Format(time.DateOnly), minutes, want)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			return
		}
	}
}

// The test computes the runs of a pattern one after the other, and all at once.
func TestSparsePatternsMatchOverTwentyYears(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	pool := pgtest.Pool(t, pgtest.Database(t))
	texts := []string{"0 0 29 2 *", "7 5 31 * *", "0 0 29 2 1", "0 12 30 2 *", "0 0 31 4,6,9,11 *", "1 1 31 12 *"}
	for len(texts) < 100 {
		texts = append(texts, sparsePattern(random))
	}
	until := epoch.AddDate(years, 0, 0)
	for _, text := range texts {
		p, err := parse(text, "")
		if err != nil {
			t.Fatal(err)
		}
		var want []time.Time
		for day := epoch; day.Before(until); day = day.AddDate(0, 0, 1) {
			if !p.matchesDay(day) {
				continue
			}
			for minute := range 1440 {
				if at := day.Add(time.Duration(minute) * time.Minute); p.matches(at) {
					want = append(want, at)
				}
			}
		}
		since, last := epoch.Add(-time.Minute), until.Add(-time.Minute)
		got := pgtest.Value[[]time.Time](t, pool, `
			select array(select graphile_worker.cron_between($1, $2, $3))`, text, since, last)
		followed := pgtest.Value[[]time.Time](t, pool, `
			with recursive runs (run) as (
			  select graphile_worker.cron_next($1, $2)
			  union all
			  select graphile_worker.cron_next($1, r.run) from runs as r where r.run is not null
			)
			select array(select r.run from (select * from runs limit $4) as r where r.run <= $3)`, text, since, last,
			len(want)+1)
		if !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Errorf("%s: runs at %v, want %v", text, got, want)
		}
		if !slices.EqualFunc(followed, want, time.Time.Equal) {
			t.Errorf("%s: one after the other at %v, want %v", text, followed, want)
		}
	}
}

// matchesDay reports whether any minute of a day can match.
func (p pattern) matchesDay(day time.Time) bool {
	for hour := range p.fields[1] {
		for minute := range p.fields[0] {
			return p.matches(day.Add(time.Duration(hour*60+minute) * time.Minute))
		}
	}
	return false
}

// randomPattern returns a pattern that may contain everything in the grammar.
func randomPattern(random *rand.Rand) string {
	var fields []string
	for i := range 5 {
		var parts []string
		for len(parts) == 0 || random.IntN(3) == 0 {
			parts = append(parts, randomPart(random, fieldLowest[i], fieldHigher[i]))
		}
		fields = append(fields, strings.Join(parts, ","))
	}
	return strings.Join(fields, " ")
}

func randomPart(random *rand.Rand, lowest, higher int) string {
	if higher == 7 {
		higher = 8 // another name of Sunday
	}
	from := lowest + random.IntN(higher-lowest)
	switch random.IntN(7) {
	case 0:
		return "*/" + strconv.Itoa(1+random.IntN(higher+2))
	case 1, 2:
		if to := from + 1 + random.IntN(higher-lowest); to < higher {
			return strconv.Itoa(from) + "-" + strconv.Itoa(to)
		}
		return strconv.Itoa(from)
	case 3:
		return strconv.Itoa(from)
	default:
		return "*"
	}
}

// sparsePattern returns a pattern that matches at most a few times a year.
func sparsePattern(random *rand.Rand) string {
	field := func(i int) string { return strconv.Itoa(fieldLowest[i] + random.IntN(fieldHigher[i]-fieldLowest[i])) }
	dow := "*"
	if random.IntN(3) == 0 {
		dow = field(4)
	}
	return strings.Join([]string{field(0), field(1), field(2), field(3), dow}, " ")
}
