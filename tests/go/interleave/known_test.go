package interleave

import (
	"slices"
	"strings"
)

// known are findings in the functions as they are. A finding that is mended is taken from here.
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
