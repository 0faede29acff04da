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
