package interleave

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// repeated are calls that a client makes again, by an order of their own, if the answer of the commit was lost.
var repeated = []string{"replace", "preserve", "dedupe", "remove", "complete", "complete by lease", "complete batch",
	"fail", "return",
	"renew", "retry", "cancel", "unlock", "get_job", "add_jobs", "schedule", "unschedule"}

// lostWorlds are those in which the first session loses the answer of its commit, and the third makes its call again.
func lostWorlds() (all []world) {
	for _, where := range []string{"ready", "running", "running queue", "scheduled"} {
		for _, name := range repeated {
			for _, other := range []string{"replace", "get_job", "complete", "unlock", "run_cron"} {
				all = append(all, of(where, name, other, name))
			}
		}
	}
	return all
}

func TestACallThatIsMadeAgainAfterTheAnswerOfItsCommitWasLostIsACallOfItsOwn(t *testing.T) {
	pgtest.OnOneVersion(t)
	checkAll(t, lostWorlds(), func(d *driver, w world, random *rand.Rand, judges ...judge) ([]*finding, tally, error) {
		return d.judged(t.Context(), w, judges, func(v *verdicts) error {
			for range 5 {
				order, err := d.wanderAndLose(t.Context(), w, random)
				if err == nil {
					err = v.visit(t.Context(), order)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}

// wanderAndLose runs a world in one order, drawn at random. The answer of the first session's commit is lost, and the
// last session begins after that.
func (d *driver) wanderAndLose(ctx context.Context, w world, random *rand.Rand) (order []int, err error) {
	if err := d.begin(ctx, w); err != nil {
		return nil, err
	}
	first, last := d.sessions[0], len(d.sessions)-1
	for {
		can, err := d.able(ctx)
		if err != nil || len(can) == 0 {
			return order, err
		}
		if n := len(can) - 1; can[n] == last && !first.done && n > 0 {
			can = can[:n]
		}
		i := can[random.IntN(len(can))]
		if i == last && !first.done { // it waits for a session that waits for no other
			return order, fmt.Errorf("order %v: session 1 waits, and nobody can go on", order)
		}
		order = append(order, i)
		if i == 0 && first.at == "" && first.next == len(w.sessions[0].calls) {
			err = d.lose(ctx, i)
		} else {
			_, err = d.step(ctx, i)
		}
		if err != nil {
			return order, fmt.Errorf("order %v: %w", order, err)
		}
	}
}
