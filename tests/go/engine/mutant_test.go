package engine

import (
	"math/rand/v2"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// The model sees mistakes in the rules of claims and ends.
func TestMistakesAreSeenByTheModel(t *testing.T) {
	for _, m := range pgtest.Mutants([]struct {
		name                    string
		seed                    uint64 // of a world in which it is seen
		function, sound, broken string
	}{
		{"an end tells no gate", 2, "_gw_release_gates", "where j.queue_id <= -16", "where false"},
		{"jobs of queues pass no gate", 2, "_gw_queue_candidates", "coalesce(l.lane_id, 0) end, l.gates",
			"coalesce(l.lane_id, 0) end, '{}'"},
		{"what starts is not counted", 2, "_gw_start_jobs", "row(g.id, count(*), count(*),", "row(g.id, 0, count(*),"},
		{"an end counts twice", 3, "_gw_count_ends", "- e.jobs,", "- 2 * e.jobs,"},
		{"a room that is left is not named", 4, "_gw_claim_limited", "when gate_ids is not null then",
			"when false then"},
		{"running jobs keep their lanes when limits change", 20, "_gw_settle",
			"perform \"graphile_worker\"._gw_give_lanes(running);", ""},
	}) {
		t.Run(m.name, func(t *testing.T) {
			w := newWorld(t)
			if err := pgtest.Mutate(t.Context(), w.conn, m.function, m.sound, m.broken); err != nil {
				t.Fatal(err)
			}
			for seed := m.seed; seed < m.seed+30; seed++ {
				r := rand.New(rand.NewPCG(seed, 0))
				if _, finding := w.play(seed, 60, func(m *model, n int) act { return draw(r, m, n) }); finding != nil {
					t.Logf("-engine.seed=%d: %v", seed, finding)
					return
				}
			}
			t.Error("nothing was seen")
		})
	}
}
