package pgtest

import (
	"flag"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
)

// Mutants returns the mutants (broken rules that a test must detect) that this run tries: one of them, chosen as by [Draw].
func Mutants[T any](all []T) []T { return Draw(all, 1) }

// Draw returns the cases that this run tries: all of them in CI (the environment variable CI is set) on one version of
// PostgreSQL, and if -run names one; otherwise a new random selection of count cases.
func Draw[T any](all []T, count int) []T {
	if inCI() && !testing.Short() || strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return all
	}
	drawn := slices.Clone(all)
	rand.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	return drawn[:min(count, len(drawn))]
}

// Scale returns the default size of a random run: ci in CI, otherwise elsewhere.
func Scale(ci, elsewhere int) int {
	if inCI() {
		return ci
	}
	return elsewhere
}

func inCI() bool { return os.Getenv("CI") != "" }
