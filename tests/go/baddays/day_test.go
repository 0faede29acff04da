package baddays

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"syscall"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

var minutesFlag = flag.Int("baddays.minutes", 20,
	"how many `minutes` of the day of simulated load there are, at most 1440")

// recurring are the recurring jobs of the day, and when each is due.
var recurring = []struct {
	pattern string
	isDue   func(time.Time) bool
}{
	{"* * * * *", func(time.Time) bool { return true }},
	{"*/7 * * * *", func(t time.Time) bool { return t.Minute()%7 == 0 }},
	{"*/10 8-17 * * *", func(t time.Time) bool { return t.Minute()%10 == 0 && t.Hour() >= 8 && t.Hour() < 18 }},
	{"5 */2 * * *", func(t time.Time) bool { return t.Minute() == 5 && t.Hour()%2 == 0 }},
	{"30 3 * * *", func(t time.Time) bool { return t.Minute() == 30 && t.Hour() == 3 }},
}

// cronNumbers is the first number of recurring jobs: the handler assigns a number to each minute of each recurring job.
const cronNumbers = 100_000_000

// A simulated day, as fast as possible: two clients tick for each minute of it; the load rises and falls; all workers are replaced
// every four hours, and one is killed every six. Every run of a recurring job happens once, and so does every other job, except
// those that killed workers were running.
func TestADayOfLoadLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	f := newFleet(t, pgtest.Database(t))
	f.exec(`select graphile_worker.set_setting('dead_after', '5 seconds'), graphile_worker.set_setting('recovered_jobs', 'run'),
	               graphile_worker.set_setting('crashes_allowed', '1000'), graphile_worker.set_setting('stale_sweep_every', '1 second')`)
	var hired int
	hire := func() *worker {
		hired++
		w := f.start(fmt.Sprint("w", hired), f.url)
		f.awaitLog(w, "worker started")
		return w
	}
	workers := []*worker{hire(), hire(), hire()}
	l := &load{f: f, stop: func() {}}
	d := newDay(f, l)
	for minute := range min(*minutesFlag, 1440) {
		d.pass(minute)
		switch {
		case minute%240 == 5: // a deployment, one worker after the other
			for i, w := range workers {
				w.leave()
				workers[i] = hire()
			}
		case minute%360 == 12:
			f.excused[workers[0].id] = true
			workers[0].signal(syscall.SIGKILL)
			workers = append(workers[1:], hire())
		case minute%60 == 8:
			f.exec(`select from graphile_worker.cleanup(array['GC_JOB_QUEUES', 'GC_TASK_IDENTIFIERS', 'DELETE_PERMAFAILED_JOBS'])`)
		}
	}
	f.await(done)
	for _, w := range workers {
		w.leave()
	}
	f.account(l)
	known := make(map[int]bool, len(l.acked))
	for _, r := range l.acked {
		known[r.n] = true
	}
	for _, r := range f.runs() {
		if !known[r.n] {
			t.Errorf("job %d ran, which was not added", r.n)
		}
	}
}

// day is a simulated day, minute by minute.
type day struct {
	f     *fleet
	load  *load
	start time.Time
	items string
	last  [2]*time.Time // the last minute that each ticking client has handled
	n     int           // of the last job
}

func newDay(f *fleet, l *load) *day {
	f.t.Helper()
	var items []map[string]any
	for i, r := range recurring {
		items = append(items, map[string]any{
			"identifier": fmt.Sprint("r", i), "task": "work", "pattern": r.pattern,
			"payload": payload{N: (i + 1) * cronNumbers},
		})
	}
	text, err := json.Marshal(items)
	if err != nil {
		f.t.Fatal(err)
	}
	// The day begins at noon, when the load is highest. It is in the past, so that all added jobs are due.
	d := &day{f: f, load: l, start: time.Date(2025, 3, 29, 12, 0, 0, 0, time.UTC), items: string(text)}
	for i := range d.last {
		d.tick(i, d.start.Add(-30*time.Second))
	}
	return d
}

// tick calls run_cron, as a worker does once a minute.
func (d *day) tick(i int, now time.Time) {
	d.f.t.Helper()
	handled := pgtest.Value[time.Time](d.f.t, d.f.pool,
		`select handled from graphile_worker.run_cron($1::text::json, $2::timestamptz, $3::timestamptz)`, d.items,
		d.last[i], now)
	d.last[i] = &handled
}

// pass simulates a minute: recurring jobs become due, and other jobs are added, more of them by day than by night.
func (d *day) pass(minute int) {
	d.f.t.Helper()
	now := d.start.Add(time.Duration(minute) * time.Minute)
	for i, r := range recurring {
		if r.isDue(now) {
			d.load.acked = append(d.load.acked, request{n: (i+1)*cronNumbers + int(now.Unix()/60)})
		}
	}
	for i := range d.last {
		if i == 1 && minute%20 > 10 {
			continue // a client that is away for some minutes catches up
		}
		d.tick(i, now.Add(time.Duration(10*i+1)*time.Second))
	}
	jobs := int(40 + 35*math.Cos(2*math.Pi*float64(minute)/1440))
	for range jobs {
		d.n++
		r := request{n: d.n}
		if r.n%11 == 0 {
			r.key = fmt.Sprint("k", r.n%33)
		}
		d.load.acked = append(d.load.acked, r)
		d.f.exec(`
			select graphile_worker.add_job(
			         'work', json_build_object('N', $1::integer, 'Milliseconds', $1 % 5, 'Fails', case when $1 % 50 = 0 then 1 else 0 end),
			         queue_name => case when $1 % 4 = 0 then 'q' || $1 % 12 end, job_key => nullif($2, ''), priority => $1 % 3)`,
			d.n, r.key)
	}
	d.f.await(`select count(*) < 500 from graphile_worker.jobs`)
}
