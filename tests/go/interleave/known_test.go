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
	{"get_job returns nothing while a transaction holds the first job of the only free queue, though a job without a queue is ready", func(f *finding) bool {
		if !strings.Contains(f.world.setup, jobKQ) || !strings.Contains(f.world.setup, jobR2) {
			return false
		}
		for i, t := range f.world.sessions {
			at := slices.IndexFunc(t.calls, func(c call) bool { return c.name == "get_job" })
			if answers := f.outcome.answers[i]; at >= 0 && at < len(answers) && answers[at] == "" {
				return true
			}
		}
		return false
	}},
	{"Node's worker notifies nobody of a retry", func(f *finding) bool {
		return strings.Contains(f.world.name, "node fail") && strings.Contains(f.fault, "due before the listener looks again")
	}},
	{"add_job with unsafe_dedupe makes a suspect an ordinary job again, and notifies nobody", func(f *finding) bool {
		return strings.Contains(f.world.setup, "_gw_suspects (job_id") && strings.Contains(f.world.name, "dedupe") &&
			strings.Contains(f.fault, "nobody has told the listener")
	}},
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
