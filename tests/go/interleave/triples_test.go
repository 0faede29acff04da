package interleave

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// hotTriples meet in one job or one queue.
var hotTriples = []world{
	of("running queue", "get_job", "get_job_batch", "complete"),
	of("running queue", "get_job", "fail", "sweep"),
	of("running", "replace", "replace", "complete"),
	of("ready", "replace", "remove", "get_job"),
	of("ready", "replace", "preserve", "get_job"),
	of("ready", "replace", "reschedule", "retry"),
	of("dead queue", "heartbeat", "get_job", "complete"),
	of("dead queue", "heartbeat", "beat", "get_job_batch"),
	of("running queue", "cancel", "beat", "fail"),
	of("busy queue", "cancel", "preserve", "streak"),
	of("queue", "get_job", "get_job_batch", "remove"),
	of("suspect", "get_job_alone", "get_job_batch", "replace"),
	of("empty", "once", "once", "get_job"),
	of("once, over", "once", "once", "remove"),
	of("debounced", "debounce", "debounce", "get_job"),
	of("debounced, running", "debounce", "replace", "fail"),
	of("throttled", "throttle", "get_job", "remove"),
	of("throttled, running", "throttle", "throttle", "fail"),
}

func TestThreeCallsAtOnceDoWhatTheyDoOneAfterTheOther(t *testing.T) {
	checkAll(t, hotTriples, everyOrder(t))
}

// drawnTriples returns as many worlds of three calls.
func drawnTriples(count int) (all []world) {
	random := seeded("triples")
	for range count {
		at := places[random.IntN(len(places))]
		a, b, c := calls[random.IntN(len(calls))], calls[random.IntN(len(calls))], calls[random.IntN(len(calls))]
		all = append(all, of(at.name, a.name, b.name, c.name))
	}
	return all
}

func TestAnyThreeCallsInAnyOrderDoWhatTheyDoOneAfterTheOther(t *testing.T) {
	pgtest.OnOneVersion(t)
	checkAll(t, drawnTriples(*triplesFlag), func(d *driver, w world, random *rand.Rand, judges ...judge) ([]*finding,
		tally, error) {
		return d.sample(t.Context(), w, random, 5, false, judges...)
	})
}

func TestASessionThatIsEndedAtAnyStepHasDoneAllOrNothing(t *testing.T) {
	pgtest.OnOneVersion(t)
	modelled := slices.DeleteFunc(append(pairs(), hotTriples...), func(w world) bool {
		return slices.ContainsFunc(w.sessions, func(t transaction) bool {
			return slices.ContainsFunc(t.calls, func(c call) bool { return c.op == nil })
		})
	})
	checkAll(t, modelled, func(d *driver, w world, random *rand.Rand, judges ...judge) ([]*finding, tally, error) {
		return d.sample(t.Context(), w, random, 5, true, judges...)
	})
}

// transactions are of two calls.
func transactions() []world {
	return []world{
		of("running queue", "complete + replace in queue", "get_job"),
		of("running queue", "complete + get_job", "get_job_batch"),
		of("running", "replace + complete", "replace + get_job"),
		of("ready", "remove + replace", "get_job"),
		of("ready", "get_job + complete", "replace"),
		of("queue", "replace in queue + add queue", "get_job_batch"),
		of("empty", "replace + add queue", "replace in queue + get_job"),
		of("failed", "reschedule + get_job", "remove + replace"),
	}
}

func TestTwoTransactionsAtOnceDoWhatTheyDoOneAfterTheOther(t *testing.T) {
	pgtest.OnOneVersion(t)
	checkAll(t, transactions(), everyOrder(t))
}

func TestProducersAtAnyIsolationLevelDoWhatTheyDoOneAfterTheOther(t *testing.T) {
	var all []world
	for _, level := range []string{"repeatable read", "serializable"} {
		for _, producer := range []string{"replace", "replace in queue", "preserve", "dedupe", "add queue", "add_jobs",
			"remove"} {
			for _, other := range []string{"replace in queue", "get_job", "complete", "remove", "cleanup",
				fmt.Sprintf("%s: replace", level)} {
				for _, where := range []string{"empty", "ready", "running queue"} {
					all = append(all, of(where, level+": "+producer, other))
				}
			}
		}
	}
	checkAll(t, all, everyOrder(t))
}
