package limits

import (
	_ "embed"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/pgtest"
)

//go:embed next.sql
var differences string

var (
	tablesFlag = flag.Int("limits.tables", 5, "how many random `tables` to make for the property of why()")
	seedFlag   = flag.Uint64("limits.seed", 1, "the `seed` of the first of these tables; 0 draws one")
)

// why() says next for exactly the job that the next claim takes, over random jobs, queues, limits, pauses, suspects and
// claims.
func TestWhySaysNextForTheJobThatTheNextClaimTakes(t *testing.T) {
	pool := pgtest.Pool(t, pgtest.Database(t))
	first := *seedFlag
	if first == 0 {
		first = 1 + rand.Uint64N(1_000_000)
	}
	for seed := first; seed < first+uint64(*tablesFlag); seed++ {
		claims, differ := differencesOf(t, pool, seed, seed%2 == 0)
		for _, difference := range differ {
			t.Error(difference)
		}
		if claims < 20 {
			t.Errorf("the table of -limits.seed=%d has %d claims", seed, claims)
		}
	}
}

// The property is not kept if claims do not take turns as why() expects.
func TestAnOrderOfLanesThatWhyDoesNotKnowIsSeen(t *testing.T) {
	for _, m := range pgtest.Mutants([]struct{ name, function, sound, broken string }{
		{"claims ignore turns", "_gw_candidates", "order by c.priority, c.run_at, c.turn, c.job_id",
			"order by c.priority, c.run_at, c.job_id"},
		{"a lane that waited for a gate takes no turn", "_gw_open_lanes",
			"order by l.priority, l.running, l.served_at, l.run_at", "order by l.priority, l.run_at"},
		{"a job that ends does not change the turn of its lane", "_gw_count_ends", "_gw_set_turns(gate_ids);",
			"_gw_set_turns(null);"},
	}) {
		t.Run(m.name, func(t *testing.T) {
			pool := pgtest.Pool(t, pgtest.Database(t))
			if err := pgtest.Mutate(t.Context(), pool, m.function, m.sound, m.broken); err != nil {
				t.Fatal(err)
			}
			for seed := uint64(1); seed <= 10; seed++ {
				if _, differences := differencesOf(t, pool, seed, true); len(differences) > 0 {
					t.Log(differences[0])
					return
				}
			}
			t.Error("nothing was seen")
		})
	}
}

// differencesOf returns what differs in the table of a seed, and how many claims took a job.
func differencesOf(t *testing.T, pool *pgxpool.Pool, seed uint64, crowded bool) (claims int64, differ []string) {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	if _, err := tx.Exec(t.Context(), differences); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "select setseed($1::double precision / 1000003)", seed%1_000_003); err != nil {
		t.Fatal(err)
	}
	rows, err := tx.Query(t.Context(), "select round, said, claimed, claims from pg_temp.differences($1)", crowded)
	if err != nil {
		t.Fatal(err)
	}
	var round *int
	var said []int64
	var claimed *int64
	_, err = pgx.ForEachRow(rows, []any{&round, &said, &claimed, &claims}, func() error {
		if round != nil {
			differ = append(differ, fmt.Sprintf("-limits.seed=%d -limits.tables=1, round %d: why() says next for the jobs %v, claimed is %d",
				seed, *round, said, value(claimed)))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return claims, differ
}

// value returns the id of a job, or 0.
func value(id *int64) int64 {
	if id == nil {
		return 0
	}
	return *id
}
