package pgtest

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
)

// Mutants returns the mutants (broken rules that a test must detect) that this run tries: one of them, chosen as by
// [Draw].
func Mutants[T any](all []T) []T { return Draw(all, 1) }

// Draw returns the cases that this run tries: all of them if -run names a case ("Mutants/." names each), otherwise a
// new random selection of count cases.
func Draw[T any](all []T, count int) []T {
	if strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		return all
	}
	drawn := slices.Clone(all)
	rand.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	return drawn[:min(count, len(drawn))]
}
