package interleave

import (
	"flag"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// mutant is a mistake in one function, and the world in which it shows.
type mutant struct {
	name          string
	function      string
	sound, broken string // a part of its body, and what takes its place
	sql           string // instead: what breaks it
	where         string
	sessions      []string
}

// By default three of them are drawn; all are tried if worlds are drawn for a minute or longer.
func TestEveryMutantIsFound(t *testing.T) {
	drawn := slices.Clone(mutants)
	if isBrief := 0 < *forFlag && *forFlag < time.Minute; isBrief && !strings.Contains(flag.Lookup("test.run").Value.String(), "/") {
		rand.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
		drawn = drawn[:3]
	}
	for _, m := range drawn {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			w := of(m.where, m.sessions...)
			d := newTestDriverOf(t, m.apply)
			findings, did, err := d.check(t.Context(), w, 0, newJudges()...)
			switch {
			case err != nil:
				t.Error(err)
			case len(findings) == 0:
				t.Errorf("%s: not found in %s", w.name, did)
			default:
				t.Logf("%s: found in %s: %s", w.name, did, findings[0])
			}
		})
	}
}

// TestTheWorldsOfMutantsAreSound shows that what is found there is the mutant.
func TestTheWorldsOfMutantsAreSound(t *testing.T) {
	var all []world
	for _, m := range mutants {
		all = append(all, of(m.where, m.sessions...))
	}
	checkAll(t, all, everyOrder(t))
}
