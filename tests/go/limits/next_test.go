package limits

import (
	_ "embed"
	"flag"
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

// why() says next for exactly the job that the next claim takes, over random jobs, queues, limits, pauses, suspects and claims.
func TestWhySaysNextForTheJobThatTheNextClaimTakes(t *testing.T) {
	pool := pgtest.Pool(t, pgtest.Database(t))
	first := *seedFlag
	if first == 0 {
		first = 1 + rand.Uint64N(1_000_000)
	}
	for seed := first; seed < first+uint64(*tablesFlag); seed++ {
		claims := differencesOf(t, pool, seed)
		if claims < 20 {
			t.Errorf("the table of -limits.seed=%d has %d claims", seed, claims)
		}
	}
}

// differencesOf reports what differs in the table of a seed, and returns how many claims took a job.
func differencesOf(t *testing.T, pool *pgxpool.Pool, seed uint64) (claims int64) {
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
	rows, err := tx.Query(t.Context(), "select round, said, claimed, claims from pg_temp.differences()")
	if err != nil {
		t.Fatal(err)
	}
	var round *int
	var said []int64
	var claimed *int64
	_, err = pgx.ForEachRow(rows, []any{&round, &said, &claimed, &claims}, func() error {
		if round != nil {
			t.Errorf("-limits.seed=%d -limits.tables=1, round %d: why() says next for the jobs %v, claimed is %d", seed, *round, said, value(claimed))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return claims
}

// value returns the id of a job, or 0.
func value(id *int64) int64 {
	if id == nil {
		return 0
	}
	return *id
}
