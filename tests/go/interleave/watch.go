package interleave

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A watch sees which rows sessions change and lock: the server writes the transaction into xmax of the row's version
// that all others see. It does not see rows that are added, until they are committed.
type watch struct {
	conn    *pgx.Conn
	parts   map[string]string            // by table, what reads its rows
	last    map[string]map[string]string // by table, xmin and xmax of each row
	classes map[string][]string          // of each row
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
	w := &watch{conn: conn, parts: make(map[string]string), classes: make(map[string][]string)}
	var table, key string
	_, err = pgx.ForEachRow(rows, []any{&table, &key}, func() error {
		if tables[table] {
			class := "''"
			for _, c := range classesOf(table) {
				class += fmt.Sprintf(" || case when %s then '%s,' else '' end", c.sql, c)
			}
			const part = "select '%[1]s ' || %[2]s, r.xmin || '-' || r.xmax, %[3]s from graphile_worker.%[1]s as r"
			w.parts[table] = fmt.Sprintf(part, table, key, class)
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
	w.last, w.classes = make(map[string]map[string]string), make(map[string][]string)
	_, _, err := w.changes(ctx, tables)
	return err
}

// changes returns the rows of these tables that were changed or locked since the last call for their tables, as "table
// key", and the tables and rows of which changes were committed since then.
func (w *watch) changes(ctx context.Context, tables set) (changed, committed set, err error) {
	var batch pgx.Batch // of statements that are prepared once
	now := make(map[string]map[string]string)
	changed, committed = set{}, set{}
	for table := range tables {
		if w.parts[table] == "" {
			continue
		}
		now[table] = make(map[string]string)
		batch.Queue(w.parts[table]).Query(func(rows pgx.Rows) error {
			var row, xmax, class string
			_, err := pgx.ForEachRow(rows, []any{&row, &xmax, &class}, func() error {
				switch before, ok := w.last[table][row]; {
				case !ok || version(before) != version(xmax):
					w.commits(committed, table, row)
					w.classes[row] = strings.FieldsFunc(class, func(c rune) bool { return c == ',' })
					w.commits(committed, table, row)
					if maker, locker, _ := strings.Cut(xmax, "-"); locker != "0" && locker != maker {
						changed[row] = true // by whom the session has let go on that committed it
					}
				case before != xmax:
					changed[row] = true
				}
				now[table][row] = xmax
				return nil
			})
			for row := range w.last[table] {
				if now[table][row] == "" {
					w.commits(committed, table, row)
					delete(w.classes, row)
				}
			}
			return err
		})
	}
	if batch.Len() == 0 {
		return changed, committed, nil
	}
	if err := w.conn.SendBatch(ctx, &batch).Close(); err != nil {
		return nil, nil, fmt.Errorf("read the locks of rows: %w", err)
	}
	maps.Copy(w.last, now)
	return changed, committed, nil
}

// commits notes that a row, which is or was of its classes, was committed.
func (w *watch) commits(committed set, table, row string) {
	committed[table], committed[row] = true, true
	for _, class := range w.classes[row] {
		committed[class] = true
	}
}

// version returns the transaction that has made a version of a row.
func version(xminXmax string) string {
	xmin, _, _ := strings.Cut(xminXmax, "-")
	return xmin
}
