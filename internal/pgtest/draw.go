package pgtest

import (
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// Mutants returns which of a list of broken rules a run tries, each of which a test must see: one of them, as by [Draw].
func Mutants[T any](all []T) []T { return Draw(all, 1) }

// Draw returns which of a list of like cases a run tries: all of them in CI (the environment variable CI is set), on one
// version of PostgreSQL, and where -run names one; elsewhere as many as it is told, drawn anew each time.
func Draw[T any](all []T, count int) []T {
	if inCI() && !testing.Short() || strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return all
	}
	drawn := slices.Clone(all)
	rand.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	return drawn[:min(count, len(drawn))]
}

// Scale returns how large a random run is unless a flag says it: in CI, or elsewhere.
func Scale(ci, elsewhere int) int {
	if inCI() {
		return ci
	}
	return elsewhere
}

func inCI() bool { return os.Getenv("CI") != "" }
