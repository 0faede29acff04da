package interleave

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A watch sees which rows sessions change and lock: the server writes the transaction into xmax of the row's version that
// all others see. It does not see rows that are added, until they are committed.
type watch struct {
	conn  *pgx.Conn
	parts map[string]string            // by table, what reads its rows
	last  map[string]map[string]string // by table, xmin and xmax of each row
}

// Rows have the names of their keys, which are the same in every run of a world; their places are not.
func newWatch(ctx context.Context, conn *pgx.Conn, tables set) (*watch, error) {
	rows, err := conn.Query(ctx, `
		select c.relname, coalesce(string_agg('r.' || quote_ident(a.attname), ' || '','' || '), 'r.ctid')
		  from pg_class as c
		  left join pg_index as i on i.indrelid = c.oid and i.indisprimary
		  left join pg_attribute as a on a.attrelid = c.oid and a.attnum = any (i.indkey)
		 where c.relnamespace = 'graphile_worker'::regnamespace and c.relkind in ('r', 'p')
		 group by c.relname`)
	if err != nil {
		return nil, fmt.Errorf("read the keys of tables: %w", err)
	}
	w := &watch{conn: conn, parts: make(map[string]string)}
	var table, key string
	_, err = pgx.ForEachRow(rows, []any{&table, &key}, func() error {
		if tables[table] {
			w.parts[table] = fmt.Sprintf("select '%[1]s ' || %[2]s, r.xmin || '-' || r.xmax from graphile_worker.%[1]s as r", table, key)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the keys of tables: %w", err)
	}
	return w, nil
}

// begin watches these tables, from now on.
func (w *watch) begin(ctx context.Context, tables set) error {
	w.last = make(map[string]map[string]string)
	_, err := w.changes(ctx, tables)
	return err
}

// changes returns the rows of these tables that were changed or locked since the last call for their tables, as "table key".
func (w *watch) changes(ctx context.Context, tables set) (set, error) {
	var batch pgx.Batch // of statements that are prepared once
	now, changed := make(map[string]map[string]string), set{}
	for table := range tables {
		if w.parts[table] == "" {
			continue
		}
		now[table] = make(map[string]string)
		batch.Queue(w.parts[table]).Query(func(rows pgx.Rows) error {
			var row, xmax string
			_, err := pgx.ForEachRow(rows, []any{&row, &xmax}, func() error {
				if before, ok := w.last[table][row]; ok && before != xmax && version(before) == version(xmax) {
					changed[row] = true
				}
				now[table][row] = xmax
				return nil
			})
			return err
		})
	}
	if batch.Len() == 0 {
		return nil, nil
	}
	if err := w.conn.SendBatch(ctx, &batch).Close(); err != nil {
		return nil, fmt.Errorf("read the locks of rows: %w", err)
	}
	maps.Copy(w.last, now)
	return changed, nil
}

// version returns the transaction that has made a version of a row.
func version(xminXmax string) string {
	xmin, _, _ := strings.Cut(xminXmax, "-")
	return xmin
}
