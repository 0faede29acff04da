package shim

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

// TestDaysOfCronRunEachMinuteOnce lives through two days with three workers, which are processes. One stays up, though
// its connections are ended repeatedly; the others are killed during ticks and started again. At some times no worker
// runs for hours.
func TestDaysOfCronRunEachMinuteOnce(t *testing.T) {
	pgtest.OnOneVersion(t)
	t.Parallel()
	const crontab = `
* * * * *        minutely ?fill=12h
*/3 * * * *      unfilled
*/5 * * * *      short    ?fill=1h
30 2 * * *       night    ?tz=Europe/Berlin&fill=12h
0 * * * *        hourly   ?tz=Europe/Berlin&fill=12h
15 9-17 * * 1-5  workday  ?tz=America/New_York&fill=1d
`
	items := []struct {
		task, pattern, zone string
		fill                time.Duration
	}{
		{"minutely", "* * * * *", "UTC", 12 * time.Hour},
		{"unfilled", "*/3 * * * *", "UTC", 0},
		{"short", "*/5 * * * *", "UTC", time.Hour},
		{"night", "30 2 * * *", "Europe/Berlin", 12 * time.Hour},
		{"hourly", "0 * * * *", "Europe/Berlin", 12 * time.Hour},
		{"workday", "15 9-17 * * 1-5", "America/New_York", 24 * time.Hour},
	}
	start := time.Date(2026, 3, 28, 20, 0, 30, 0, time.UTC) // a Saturday, hours before the clocks change in Berlin
	down, up := start.Add(16*time.Hour), start.Add(20*time.Hour+20*time.Second)
	end := start.Add(44 * time.Hour)

	url := pgtest.Database(t)
	pool := pgtest.Pool(t, url)
	s := &cronDays{t: t, pool: pool, random: rand.New(rand.NewPCG(7, 8))}
	for range 3 {
		s.workers = append(s.workers, &cronProcess{t: t, url: url, crontab: crontab})
	}
	lastBefore := s.live(start, down)
	for _, w := range s.workers {
		w.kill()
	}
	last := s.live(up, end)
	for _, w := range s.workers {
		w.kill()
	}

	got := s.added()
	for _, item := range items {
		runs := pgtest.Value[[]time.Time](t, pool, `select array(select graphile_worker.cron_between($1, $2, $3, $4))`,
			item.pattern, start, last, item.zone)
		for _, at := range runs {
			missed := at.After(lastBefore) && !at.After(up)
			covered := item.fill > 0 && !at.Before(up.Add(-item.fill))
			regular, backfilled := cronRun(item.task, at, false), cronRun(item.task, at, true)
			switch {
			case missed && (got[regular] != 0 || (got[backfilled] == 1) != covered || got[backfilled] > 1):
				t.Errorf("%s, missed: is there %d times, %d times backfilled", regular, got[regular], got[backfilled])
			case !missed && got[regular]+got[backfilled] != 1: // who starts again may be the first to see to a minute
				t.Errorf("%s: is there %d times, %d times backfilled", regular, got[regular], got[backfilled])
			}
			delete(got, regular)
			delete(got, backfilled)
		}
	}
	for _, run := range slices.Sorted(maps.Keys(got)) {
		t.Errorf("%s should not be there", run)
	}
	if s.killed < 10 || s.ended < 10 {
		t.Errorf("%d workers were killed and %d connections ended; want at least 10 each", s.killed, s.ended)
	}
}

// cronDays moves the time on when all workers have done what there was to do.
type cronDays struct {
	t             *testing.T
	pool          *pgxpool.Pool
	workers       []*cronProcess // the first stays up
	random        *rand.Rand
	killed, ended int
}

// live starts the workers at a time and moves it on by some minutes at once, and returns when the last ticks were.
// Workers that were killed start at the time at which they were, so that the one that stays up is never behind one that
// starts.
func (s *cronDays) live(from, until time.Time) (last time.Time) {
	for _, w := range s.workers {
		w.start(from)
	}
	for now := from; now.Before(until); now = now.Add(time.Duration(1+s.random.IntN(40)) * time.Minute) {
		for _, w := range s.workers {
			if now != from {
				w.tell(now)
			}
		}
		// Not for something to happen: to strike somewhere in the ticks.
		time.Sleep(time.Duration(s.random.IntN(6000)) * time.Microsecond)
		switch victim := s.random.IntN(10); victim {
		case 1, 2:
			s.workers[victim].kill()
			s.workers[victim].start(now)
			s.killed++
		case 3, 4:
			s.ended += pgtest.Value[int](s.t, s.pool, `
				select count(pg_terminate_backend(a.pid))
				  from pg_stat_activity as a
				 where a.datname = current_database() and a.query like '%run_cron%' and a.pid <> pg_backend_pid()`)
		}
		for _, w := range s.workers {
			w.await()
		}
		last = now
	}
	return last
}

// added returns how many jobs there are for each run.
func (s *cronDays) added() map[string]int {
	s.t.Helper()
	rows := pgtest.Value[[]string](s.t, s.pool, `
		select array(select j.task_identifier || ' ' || (p.payload #>> '{_cron,ts}') || ' ' || (p.payload #>> '{_cron,backfilled}')
		               from graphile_worker.jobs as j
		               join graphile_worker._private_jobs as p on p.id = j.id
		              where j.run_at = (p.payload #>> '{_cron,ts}')::timestamptz)`)
	counts := make(map[string]int)
	for _, row := range rows {
		counts[row]++
	}
	return counts
}

func cronRun(task string, at time.Time, backfilled bool) string {
	return fmt.Sprintf("%s %s %t", task, at.UTC().Format("2006-01-02T15:04:05.000Z"), backfilled)
}
