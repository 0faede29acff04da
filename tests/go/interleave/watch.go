package interleave

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A watch sees which rows sessions change and lock: the server writes the transaction into xmax of the row's version that
// all others see. It does not see rows that are added, until they are committed.
type watch struct {
	conn  *pgx.Conn
	parts map[string]string // by table, what reads its rows
	sql   string
	last  map[string]string // xmin and xmax of each row
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
			w.parts[table] = fmt.Sprintf("select '%[1]s ' || %[2]s || ' ' || r.xmin || '-' || r.xmax as row from graphile_worker.%[1]s as r", table, key)
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
	var parts []string
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		if part := w.parts[table]; part != "" {
			parts = append(parts, part)
		}
	}
	w.sql = "select coalesce(string_agg(r.row, e'\\n'), '') from (" + strings.Join(parts, " union all ") + ") as r"
	if len(parts) == 0 {
		w.sql = "select ''"
	}
	_, err := w.changes(ctx)
	return err
}

// changes returns the rows that were changed or locked since the last call, as "table key".
func (w *watch) changes(ctx context.Context) (set, error) {
	var text string
	if err := w.conn.QueryRow(ctx, w.sql).Scan(&text); err != nil {
		return nil, fmt.Errorf("read the locks of rows: %w", err)
	}
	now, changed := make(map[string]string), set{}
	for line := range strings.SplitSeq(text, "\n") {
		at := strings.LastIndexByte(line, ' ')
		if at < 0 {
			continue
		}
		row, xmax := line[:at], line[at+1:]
		now[row] = xmax
		if before, ok := w.last[row]; ok && before != xmax && version(before) == version(xmax) {
			changed[row] = true
		}
	}
	w.last = now
	return changed, nil
}

// version returns the transaction that has made a version of a row.
func version(xminXmax string) string {
	xmin, _, _ := strings.Cut(xminXmax, "-")
	return xmin
}
