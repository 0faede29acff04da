package interleave

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A judge returns what is wrong with the outcomes of a world.
type judge interface {
	// prepare learns about a world, before its sessions run at once.
	prepare(ctx context.Context, d *driver, w world) error

	// fault returns what is wrong with the outcome of a run that has just ended, or an empty string.
	fault(ctx context.Context, d *driver, w world, o outcome) (string, error)
}

// noOrder returns the text of a finding: the outcome is not an allowed one. allowed has the order that leads to each of
// these.
func noOrder(allowed map[string]string) string {
	var b strings.Builder
	b.WriteString("no order of the calls gives this; these do:\n")
	for _, outcome := range slices.Sorted(maps.Keys(allowed)) {
		fmt.Fprintf(&b, "-- %s:\n%s", allowed[outcome], outcome)
	}
	return b.String()
}

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
