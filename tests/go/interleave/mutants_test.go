package interleave

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// mutant is a mistake in one function, and the world in which it is found.
type mutant struct {
	name          string
	function      string
	sound, broken string // a part of its body, and what takes its place
	sql           string // instead: what breaks it
	where         string
	sessions      []string
}

func TestEveryMutantIsFound(t *testing.T) {
	tried := mutants
	if share(1) > 0 {
		tried = pgtest.Mutants(mutants)
	}
	for _, m := range tried {
		t.Run(m.name, func(t *testing.T) {
			w := of(m.where, m.sessions...)
			d := newTestDriverOf(t, m.apply)
			findings, did, err := d.search(t.Context(), w, newJudges()...)
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

// TestTheWorldsOfMutantsAreSound checks that nothing is found in these worlds without the mutants.
func TestTheWorldsOfMutantsAreSound(t *testing.T) {
	pgtest.OnOneVersion(t)
	var all []world
	for _, m := range mutants {
		all = append(all, of(m.where, m.sessions...))
	}
	checkAll(t, all, everyOrder(t))
}
