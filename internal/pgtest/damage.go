package pgtest

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Damage removes the pieces of the payload that was stored last, which must be large enough to be stored in pieces: whoever
// reads it is told so. It needs a superuser.
func Damage(t testing.TB, pool *pgxpool.Pool) {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	exec := func(sql string) (rows int64) {
		tag, err := tx.Exec(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		return tag.RowsAffected()
	}
	var pieces string
	if err := tx.QueryRow(t.Context(), `
		select reltoastrelid::regclass from pg_class where oid = 'graphile_worker._private_jobs'::regclass`).Scan(&pieces); err != nil {
		t.Fatal(err)
	}
	// No statement may change such a table, unless it is taken for another kind.
	exec(`update pg_class set relkind = 'r' where oid = '` + pieces + `'::regclass`)
	if n := exec(`delete from ` + pieces + ` where chunk_id = (
		select chunk_id from ` + pieces + ` order by age(xmin), chunk_id desc limit 1)`); n == 0 {
		t.Fatal("no payload is stored in pieces")
	}
	exec(`update pg_class set relkind = 't' where oid = '` + pieces + `'::regclass`)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	Exec(t, pool, `vacuum `+pieces) // until then some of them are found
}
