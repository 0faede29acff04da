package interleave

import (
	"slices"
	"strings"
)

// known are findings that stay. One that is mended is taken from here.
var known = []struct {
	why string
	is  func(f *finding) bool
}{
	{"Node's worker notifies nobody of a retry", func(f *finding) bool {
		return strings.Contains(f.world.name, "node fail") && strings.Contains(f.fault, "due before the listener looks again")
	}},
	{"Node's worker lets go a row that it has waited for, or locked and not taken, without notice", func(f *finding) bool {
		return strings.Contains(f.world.name, "node ") && strings.Contains(f.fault, "after its row was let go")
	}},
	{"an outcome has waited for a queue that the recovery of its worker freed, and lets it go without notice", func(f *finding) bool {
		return strings.Contains(f.fault, "after its row was let go") && sends(f.world, "heartbeat(") &&
			(sends(f.world, "complete_job") || sends(f.world, "fail_job") || sends(f.world, "return_job"))
	}},
	{"cron_schedule changes a schedule that is removed meanwhile, and does not make it known again", func(f *finding) bool {
		return strings.HasSuffix(f.world.name, ": schedule, unschedule")
	}},
	{"a batch takes one job less when a job leaves its queue meanwhile", func(f *finding) bool {
		return strings.HasSuffix(f.world.name, ": preserve, late batch")
	}},
	{"a claim has locked a queue and taken nothing from it, and lets it go without notice", func(f *finding) bool {
		return strings.Contains(f.fault, "after its row was let go") && sends(f.world, "get_job")
	}},
}

// sends tells whether a session of a world sends something with this text.
func sends(w world, text string) bool {
	return slices.ContainsFunc(w.sessions, func(t transaction) bool {
		return slices.ContainsFunc(t.calls, func(c call) bool { return strings.Contains(c.sql, text) })
	})
}

// knownWhy says why a finding is known, or returns an empty string.
func knownWhy(f *finding) string {
	for _, k := range known {
		if k.is(f) {
			return k.why
		}
	}
	return ""
}
