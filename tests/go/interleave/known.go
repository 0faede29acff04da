package interleave

import "strings"

// known are the findings that remain. A finding that is fixed is removed from this list.
var known = []struct {
	why string
	is  func(f *finding) bool
}{
	{"Node's worker notifies nobody of a retry", func(f *finding) bool {
		return strings.Contains(f.world.name, "node fail") &&
			strings.Contains(f.fault, "due before the listener looks again")
	}},
	{"Node's worker lets go a row that it has waited for, or locked and not taken, without notice",
		func(f *finding) bool {
			return strings.Contains(f.world.name, "node ") && strings.Contains(f.fault, "after its row was let go")
		}},
	{"cleanup keeps a name that Node's worker uses, which is allowed, and not known to the judge of its worlds",
		func(f *finding) bool {
			return strings.HasSuffix(f.world.name, ": cleanup, node complete") &&
				!strings.Contains(f.fault, "after its row was let go")
		}},
}

// knownWhy returns why a finding is known, or an empty string.
func knownWhy(f *finding) string {
	for _, k := range known {
		if k.is(f) {
			return k.why
		}
	}
	return ""
}
