package interleave

import (
	"slices"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// asleep are places where a worker waits for jobs and the setting notify is idle: it has its mark, or is about to set
// it.
const (
	idle   = `select graphile_worker.set_setting('notify', 'idle');`
	marked = idle + `select from graphile_worker.fall_asleep('sleeper', lasting => '1 hour');`
)

var fallAsleep = call{name: "fall asleep", sql: `select must_look_again from graphile_worker.fall_asleep('sleeper', lasting => '1 hour')`}

// wakers make jobs ready, or due earlier.
var wakers = []string{
	"replace", "replace in queue", "preserve", "dedupe", "add queue", "add_jobs", "remove", "complete", "fail",
	"return", "complete batch", "fail batch", "return batch", "admin complete", "admin fail", "reschedule", "retry",
	"unlock", "sweep", "heartbeat", "run_cron", "node complete",
}

// wakingPlaces are those at whose beginning nothing is ready, or something that is not to be ready.
var wakingPlaces = []string{"empty", "running", "running queue", "failed", "dead queue"}

func sleepingWorlds() (all []world) {
	for _, where := range wakingPlaces {
		for i, a := range wakers {
			for _, b := range wakers[i:] {
				w := of(where, a, b)
				w.name, w.setup = "idle, "+w.name, w.setup+marked
				all = append(all, w)
			}
		}
	}
	return all
}

func TestAWorkerThatSleepsWithAMarkLearnsOfEveryJob(t *testing.T) {
	pgtest.OnOneVersion(t)
	checkAll(t, sleepingWorlds(), everyOrder(t))
}

// fallingWorlds are those in which the worker falls asleep.
func fallingWorlds() (all []world) {
	for _, where := range wakingPlaces {
		for _, a := range wakers {
			w := of(where, a)
			w.name, w.setup = "falling asleep, "+w.name, w.setup+idle
			w.sessions = append(w.sessions, transaction{calls: []call{fallAsleep}})
			all = append(all, w)
		}
	}
	return all
}

func TestAWorkerThatFallsAsleepLearnsOfEveryJob(t *testing.T) {
	pgtest.OnOneVersion(t)
	checkAll(t, fallingWorlds(), everyOrder(t))
}

func TestANotificationThatIsLostIsFound(t *testing.T) {
	pgtest.OnOneVersion(t)
	for _, broken := range []struct{ name, sql, world string }{
		{"nobody is found to be in flight", `create or replace function graphile_worker.still_in_flight(transactions bigint[] default null)
			returns bigint[] language sql as 'select array[]::bigint[]'`, "falling asleep, empty: replace"},
		{"a free queue wakes nobody", `create or replace function graphile_worker._gw_queue_freed() returns trigger language plpgsql as
			$$ begin return null; end $$`, "idle, running queue: complete, retry"},
		{"marks are not seen", `
			do $do$
			begin
			  execute replace(pg_get_functiondef('graphile_worker._gw_wake'::regproc), 's.until > statement_timestamp()', 'false');
			end $do$`, "idle, running: fail, return"},
	} {
		t.Run(broken.name, func(t *testing.T) {
			d := newTestDriverOf(t, mutant{sql: broken.sql}.apply)
			for _, w := range append(sleepingWorlds(), fallingWorlds()...) {
				if w.name != broken.world {
					continue
				}
				findings, did, err := d.search(t.Context(), w, newJudges()...)
				if err != nil {
					t.Fatal(err)
				}
				if !slices.ContainsFunc(findings,
					func(f *finding) bool { return strings.Contains(f.fault, "nobody has told the listener") }) {
					t.Errorf("%s: not found in %s", w.name, did)
				}
				return
			}
			t.Errorf("there is no world %s", broken.world)
		})
	}
}
