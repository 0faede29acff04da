package interleave

import "strings"

// known are findings that stay. One that is mended is taken from here.
var known = []struct {
	why string
	is  func(f *finding) bool
}{
	{"Node's worker notifies nobody of a retry", func(f *finding) bool {
		return strings.Contains(f.world.name, "node fail") && strings.Contains(f.fault, "due before the listener looks again")
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
