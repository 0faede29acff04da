package shim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/internal/sqlstate"
	"github.com/gwsql/gw/pkg/crontab"
)

func TestCronTakesAnyMixOfSources(t *testing.T) {
	item, err := crontab.HourlyAt("built", 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := newTicking(t, item, everyMinute("written"))
	w.start()
	w.clock.asleep()
	w.clock.wakeAt(noon.Add(61 * time.Second))
	w.wantRuns("built 1", "written 1")
}

func TestTicksGoOnFromTheLastMinute(t *testing.T) {
	w := newTicking(t, everyMinute("a"))
	w.start()
	if got := w.clock.asleep(); got != 30*time.Second {
		t.Errorf("half a minute after noon it waits for %s", got)
	}
	w.wantRuns()
	if got := w.clock.wakeAt(noon.Add(59 * time.Second)); got != time.Second {
		t.Errorf("woken a second early it waits for %s", got)
	}
	w.wantRuns()
	if got := w.clock.wakeAt(noon.Add(time.Minute)); got != time.Minute {
		t.Errorf("on the minute it waits for %s", got)
	}
	w.wantRuns("a 1")
	if got := w.clock.wakeAt(noon.Add(4*time.Minute + 50*time.Second)); got != 10*time.Second {
		t.Errorf("late, it waits for %s", got)
	}
	w.wantRuns("a 1", "a 2", "a 3", "a 4")
	w.clock.wakeAt(noon.Add(2 * time.Minute))
	w.clock.wakeAt(noon.Add(5 * time.Minute))
	w.wantRuns("a 1", "a 2", "a 3", "a 4", "a 5")
}

func TestNoMinuteIsLostWhileTheDatabaseFails(t *testing.T) {
	w := newTicking(t, everyMinute("a"))
	w.start()
	w.clock.asleep()
	w.exec(`alter function graphile_worker.run_cron rename to gone`)
	w.clock.rouseAt(noon.Add(time.Minute))
	await[CronFailed](w)
	w.clock.set(noon.Add(3 * time.Minute))
	if failed := await[CronFailed](w); !strings.Contains(failed.Err.Error(), "run_cron") {
		t.Errorf("the failure is %v", failed.Err)
	}
	w.exec(`alter function graphile_worker.gone rename to run_cron`)
	w.clock.asleep()
	w.wantRuns("a 1", "a 2", "a 3")
}

func TestAWorkerThatStartsBackfillsAndSaysWhatItAdds(t *testing.T) {
	w := newTicking(t, crontab.Text("* * * * * a ?fill=1h\n"))
	w.exec(`insert into graphile_worker._private_known_crontabs (identifier, known_since) values ('a', $1)`,
		noon.Add(-90*time.Second))
	w.exec(`select graphile_worker.cron_schedule('s', '* * * * *', 'b')`)
	w.exec(`update graphile_worker._gw_schedules set active_since = $1`, noon)
	w.start()
	w.clock.asleep()
	w.wantRuns("a -1", "a 0")
	if starting := await[CronStarting](w); starting.Items != 1 {
		t.Errorf("%d items, want 1", starting.Items)
	}
	w.clock.wakeAt(noon.Add(time.Minute))

	wantJobs := func(jobs []CronJob, want ...string) {
		t.Helper()
		var got []string
		for _, job := range jobs {
			got = append(got, fmt.Sprintf("%s %s %d", job.Identifier, job.Task, job.At.Sub(noon)/time.Minute))
			if pgtest.Value[string](t, w.pool, `select task_identifier from graphile_worker.jobs where id = $1`,
				job.JobID) != job.Task {
				t.Errorf("job %d is not of task %s", job.JobID, job.Task)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("the event has %q, want %q", got, want)
		}
	}
	wantJobs(await[CronBackfilled](w).Jobs, "a a -1", "a a 0")
	wantJobs(await[CronScheduled](w).Jobs, "a a 1", "s b 1")
}

func TestAWorkerWithoutItemsRunsTheSchedulesOfTheDatabase(t *testing.T) {
	w := newTicking(t)
	w.start()
	w.clock.asleep()
	w.exec(`select graphile_worker.cron_schedule('s', '*/2 * * * *', 'a')`)
	w.exec(`update graphile_worker._gw_schedules set active_since = $1`, noon)
	w.clock.wakeAt(noon.Add(4 * time.Minute))
	w.wantRuns("a 2", "a 4")
}

func TestRunOnceRunsNoCron(t *testing.T) {
	w := newTicking(t, crontab.Text("* * * * * a ?fill=1h\n"))
	w.exec(`insert into graphile_worker._private_known_crontabs (identifier, known_since) values ('a', $1)`,
		noon.Add(-time.Hour))
	w.cronClock.now = func() *time.Time {
		t.Error("it looks at the time")
		return new(noon)
	}
	if err := w.RunOnce(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.wantRuns()
	w.sub.Close()
	for event := range w.sub.Events() {
		if _, ok := event.(CronStarting); ok {
			t.Error("it looked after cron")
		}
	}
}

func TestItemsThatCannotBeAreRefused(t *testing.T) {
	for name, source := range map[string]crontab.Source{
		"text": crontab.Text("* * * * a"), "file": crontab.File(t.TempDir() + "/crontab"), "nothing": nil,
		"twice": everyMinute("a", "a"),
	} {
		if _, err := New(&pgxpool.Pool{}, Config{Cron: []crontab.Source{source}}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestAWorkerWhoseItemsTheDatabaseRefusesLeaves(t *testing.T) {
	w := newTicking(t, crontab.Text("* * * * * a ?tz=Europe/Atlantis\n"))
	w.start()
	select {
	case err := <-w.ended:
		if err == nil || sqlstate.Of(err) != "GWRTZ" {
			t.Errorf("it returned %v", err)
		}
	case <-time.After(patience):
		t.Fatal("it did not leave")
	}
}

func TestItemsAreReplacedWhileTheWorkerRuns(t *testing.T) {
	w := newTicking(t, everyMinute("kept", "old"))
	w.start()
	w.clock.asleep()
	w.clock.wakeAt(noon.Add(time.Minute))
	await[CronStarting](w)
	if err := w.SetCron(everyMinute("kept"), everyMinute("new")); err != nil {
		t.Fatal(err)
	}
	await[CronStarting](w)
	w.clock.asleep()
	if !pgtest.Value[bool](t, w.pool, `select crontab = '{kept,new}' from graphile_worker._gw_workers`) {
		t.Error("the database does not know what the worker has")
	}
	w.clock.wakeAt(noon.Add(3 * time.Minute))
	w.wantRuns("kept 1", "kept 2", "kept 3", "new 2", "new 3", "old 1")
}

func TestAMinuteThatBeginsWhileItemsAreReplacedIsRun(t *testing.T) {
	w := newTicking(t, everyMinute("kept"))
	session := newSession(w.Worker, false)
	session.queries.pool = w.pool
	c := session.newCron()
	// The start, the last tick before the others, the start with the others, and the next tick.
	times := []time.Time{noon.Add(30 * time.Second), noon.Add(59 * time.Second), noon.Add(61 * time.Second),
		noon.Add(62 * time.Second)}
	c.clock.now = func() *time.Time {
		at := times[0]
		times = times[1:]
		return &at
	}
	for step := range 3 {
		if step == 1 {
			if err := w.SetCron(everyMinute("kept", "new")); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := c.step(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.wantRuns("kept 1", "new 1")
}

func TestItemsThatAreReplacedDuringAnOutageRunUntilItsEnd(t *testing.T) {
	w := newTicking(t, everyMinute("old"))
	w.start()
	w.clock.asleep()
	w.exec(`alter function graphile_worker.run_cron rename to gone`)
	w.clock.rouseAt(noon.Add(time.Minute))
	await[CronFailed](w)
	if err := w.SetCron(everyMinute("new")); err != nil {
		t.Fatal(err)
	}
	w.clock.set(noon.Add(2 * time.Minute))
	w.exec(`alter function graphile_worker.gone rename to run_cron`)
	w.clock.asleep()
	w.clock.wakeAt(noon.Add(3 * time.Minute))
	w.wantRuns("new 3", "old 1", "old 2")
}

func TestItemsThatAreRefusedLaterLeaveThoseBeforeInPlace(t *testing.T) {
	w := newTicking(t, everyMinute("a"))
	w.start()
	w.clock.asleep()
	if err := w.SetCron(crontab.Text("* * * *")); err == nil {
		t.Error("a crontab that is none was taken")
	}
	if err := w.SetCron(everyMinute("b"), crontab.Text("* * * * * c ?tz=Europe/Atlantis\n")); err != nil {
		t.Fatal(err)
	}
	if failed := await[CronFailed](w); sqlstate.Of(failed.Err) != "GWRTZ" {
		t.Errorf("the failure is %v", failed.Err)
	}
	w.clock.asleep()
	w.clock.wakeAt(noon.Add(time.Minute))
	w.wantRuns("a 1")
	if logs := w.stop(); !strings.Contains(logs,
		`level=ERROR msg="new recurring jobs were refused, previous ones stay in use"`) {
		t.Errorf("the log is\n%s", logs)
	}
}

func TestAClashWithAScheduleIsLoggedOnce(t *testing.T) {
	w := newTicking(t, everyMinute("a", "b"))
	w.exec(`select graphile_worker.cron_schedule('b', '*/2 * * * *', 'scheduled')`)
	w.exec(`update graphile_worker._gw_schedules set active_since = $1`, noon)
	w.start()
	w.clock.asleep()
	w.clock.wakeAt(noon.Add(time.Minute))
	w.clock.wakeAt(noon.Add(2 * time.Minute))
	w.wantRuns("a 1", "a 2", "scheduled 2")
	logs := w.stop()
	if n := strings.Count(logs, `level=ERROR msg="recurring job does not run"`); n != 1 ||
		!strings.Contains(logs, "identifier=b") {
		t.Errorf("%d times in the log:\n%s", n, logs)
	}
}

func TestATickThatTakesTooLongMayTakeLonger(t *testing.T) {
	w := newTicking(t)
	s := newSession(w.Worker, false)
	s.queries.pool = w.pool
	c := s.newCron()
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	for _, want := range []time.Duration{2 * callTimeout, 4 * callTimeout} {
		if _, err := c.tick(late, w.cronItems.Load(), nil); !errors.Is(err, context.DeadlineExceeded) ||
			c.timeout != want {
			t.Errorf("after %v the next tick may take %s, want %s", err, c.timeout, want)
		}
	}
	for range 10 {
		_, _ = c.tick(late, w.cronItems.Load(), nil)
	}
	if c.timeout != longestTick {
		t.Errorf("it may take %s", c.timeout)
	}
	if _, err := c.tick(t.Context(), w.cronItems.Load(), nil); err != nil || c.timeout != callTimeout {
		t.Errorf("after success, %v, it may take %s", err, c.timeout)
	}
}
