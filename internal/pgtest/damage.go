package pgtest

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Damage deletes the TOAST chunks of the payload that was stored last, so that reading it fails and deleting its job
// does not. The payload must be large enough to be stored out of line, and no job may be locked. Damage needs a
// superuser.
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
	// PostgreSQL refuses to change a TOAST table, but not a table whose relkind is 'r'.
	exec(`update pg_class set relkind = 'r' where oid = '` + pieces + `'::regclass`)
	if n := exec(`delete from ` + pieces + ` where chunk_id = (
		select chunk_id from ` + pieces + ` order by age(xmin), chunk_id desc limit 1)`); n == 0 {
		t.Fatal("no payload is stored out of line")
	}
	exec(`update pg_class set relkind = 't' where oid = '` + pieces + `'::regclass`)
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}

	// A chunk is found and deleted again, whatever the snapshot, until vacuum has removed it, and vacuum leaves what
	// another transaction may still see, an autovacuum of the database for example.
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for gone := false; !gone; {
		Exec(t, pool, `vacuum `+pieces)
		_, err := pool.Exec(ctx, `begin; delete from graphile_worker._private_jobs; rollback`,
			pgx.QueryExecModeSimpleProtocol)
		if gone = err == nil; !gone && !strings.Contains(err.Error(), "tuple concurrently deleted") {
			t.Fatalf("await the vacuum of %s: %v", pieces, err)
		}
	}
}
