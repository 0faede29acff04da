package interleave

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// keyedPlaces are those at which calls that decide by a key find what earlier ones have left. The pairs have them where
// nothing did.
var keyedPlaces = []place{
	{"once", empty + registered + jobOnce},
	{"once, running", empty + registered + jobOnce + claimed},
	{"once, over", empty + registered + onceAndJob},
	{"once, over, running", empty + registered + onceAndJob + claimed},
	{"debounced", empty + registered + jobDebounced},
	{"debounced, running", empty + registered + jobDebounced + claimed},
	{"debounced, failed", empty + registered + jobDebounced + failedOnce},
	{"throttled", empty + registered + jobThrottled},
	{"throttled, running", empty + registered + jobThrottled + claimed},
	{"throttled, failed", empty + registered + jobThrottled + failedOnce},
	{"spent", empty + registered + allKindsSpent},
	{"spent and gone", empty + registered + allKindsSpent + `delete from graphile_worker._private_jobs;`},
}

// keyedWorlds are the calls that decide by a key against each other and against all that change their job.
func keyedWorlds() (all []world) {
	deciding := []string{"once", "debounce", "throttle"}
	others := []string{"replace", "preserve", "dedupe", "add_jobs", "remove", "get_job", "get_job_batch",
		"complete by lease", "fail", "return",
		"reschedule", "retry", "unlock", "cancel", "cleanup", "repeatable read: debounce", "serializable: throttle",
		"serializable: once"}
	for _, at := range keyedPlaces {
		for i, a := range deciding {
			for _, b := range deciding[i:] {
				all = append(all, of(at.name, a, b))
			}
			for _, b := range others {
				all = append(all, of(at.name, a, b))
			}
		}
	}
	return all
}

func TestCallsThatDecideByAKeyAndOthersDoWhatTheyDoOneAfterTheOther(t *testing.T) {
	pgtest.OnOneVersion(t)
	checkAll(t, keyedWorlds(), everyOrder(t))
}
