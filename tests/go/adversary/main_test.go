// Package adversary attacks a queue with hostile callers, one of each kind of role that gw-migrate grants supports.
// Each calls every function that it may call according to the catalogue, with generated arguments, while three workers
// run the jobs of other roles. The rules that must hold during the attack are in watch_test.go, honest_test.go and
// answer_test.go.
//
//	go test ./tests/go/adversary -adversary.for=10m -adversary.seed=7 -v
package adversary

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

var (
	forFlag  = flag.Duration("adversary.for", 12*time.Second, "how `long` the hostile callers call")
	seedFlag = flag.Uint64("adversary.seed", 1, "the `seed` of what they call; 0 draws one")
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func TestHostileCallersDisturbNobody(t *testing.T) {
	seed, lasting := *seedFlag, *forFlag
	for seed == 0 {
		seed = rand.Uint64()
	}
	if testing.Short() {
		lasting = min(lasting, 10*time.Second)
	}
	fmt.Printf("hostile calls of seed %d (-adversary.seed=%d) for %s\n", seed, seed, lasting)
	tr := newTrial(t, seed)
	if v := tr.run(lasting, nil); v != nil {
		t.Error(tr.describe(v))
	}
	t.Log(tr.summary())
}
