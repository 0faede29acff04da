package migrate

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/graphile"
)

const (
	// oldestRevision is the oldest revision with the tables of graphile.Revision. The next one only records that
	// workers older than 0.17 must stop.
	oldestRevision = 18

	// newestRustRevision is the newest revision of its Rust port whose tables are known to be those of
	// graphile.Revision.
	newestRustRevision = 22
)

// breakingRevisions are Graphile Worker's revisions, up to graphile.Revision, that older workers do not support.
func breakingRevisions() []int32 { return []int32{1, 3, 11, 13, 14, 16, 19} }

// A revision is a row of Graphile Worker's table migrations.
type revision struct {
	ID       int32
	Breaking bool
}

// A ledger is Graphile Worker's table migrations, in order.
type ledger []revision

// readLedger reads a ledger of any revision. In early ones, which have no column breaking, the name resolves to that of
// d. A table that is not a ledger causes an error with code 42703. The query sorts, compares and casts only values of
// built-in types, because the operators of a column's type may be foreign code.
func (m *Migrator) readLedger(ctx context.Context, tx pgx.Tx) (ledger, error) {
	rows, _ := tx.Query(ctx, `
		select m.id, (select breaking from `+m.qualified("migrations")+` as b where b.ctid = m.ctid)
		  from `+m.qualified("migrations")+` as m
		 cross join (values (false)) as d (breaking)
		 where m.ts is not null`) // ForEachRow returns the error
	var l ledger
	var id int32
	var breaking *bool
	_, err := pgx.ForEachRow(rows, []any{&id, &breaking}, func() error {
		l = append(l, revision{ID: id, Breaking: breaking != nil && *breaking})
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read Graphile Worker's revision: %w", err)
	}
	slices.SortFunc(l, func(a, b revision) int { return cmp.Compare(a.ID, b.ID) })
	return l, nil
}

// newest returns the highest revision, the only one that Node workers check; 0 if there is none.
func (l ledger) newest() int32 {
	if len(l) == 0 {
		return 0
	}
	return l[len(l)-1].ID
}

// isRust reports whether the ledger is that of the Rust port, whose revisions differ from those with the same numbers.
func (l ledger) isRust() bool {
	return slices.ContainsFunc(l, func(r revision) bool {
		return r.ID <= graphile.Revision && r.Breaking != slices.Contains(breakingRevisions(), r.ID)
	})
}

// newestBreaking returns the newest of Graphile Worker's revisions that breaks our contract; 0 if there is none.
func (l ledger) newestBreaking() int32 {
	if l.isRust() {
		return 0
	}
	for _, r := range slices.Backward(l) {
		if r.ID > graphile.Revision && r.Breaking {
			return r.ID
		}
	}
	return 0
}

// lacksRevisions reports whether revisions up to graphile.Revision still have to be recorded.
func (l ledger) lacksRevisions() bool { return !l.isRust() && l.newest() < graphile.Revision }

// recordRevisions returns the SQL that records the revisions from first on and announces them, as Node's own migrations
// do. It begins with the insert, on which two concurrent migrations wait for each other.
func (m *Migrator) recordRevisions(first int32) string {
	return fmt.Sprintf(`with added as (
  insert into %[1]s (id, breaking)
  select r.id, r.id = 19
    from generate_series(%[2]d, %[3]d) as r (id)
      on conflict (id) do nothing
  returning id, breaking
)
select pg_notify('worker:migrate', json_build_object('migrationNumber', a.id, 'breaking', a.breaking)::text)
  from added as a
 order by a.id;
`, m.qualified("migrations"), first, graphile.Revision)
}
