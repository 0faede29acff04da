package interleave

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// A watch sees which rows sessions change and lock: the server writes the transaction into xmax of the row's version that
// all others see. It does not see rows that are added, until they are committed.
type watch struct {
	conn *pgx.Conn
	sql  string
	last map[string]string // xmax of each row
}

func newWatch(conn *pgx.Conn, tables set) *watch {
	var parts []string
	for table := range tables {
		parts = append(parts, fmt.Sprintf("select '%[1]s ' || ctid || ' ' || xmax as row from graphile_worker.%[1]s", table))
	}
	return &watch{conn: conn, sql: "select coalesce(string_agg(r.row, e'\\n'), '') from (" + strings.Join(parts, " union all ") + ") as r"}
}

// changes returns the rows that were changed or locked since the last call, as "table ctid".
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
		if before, ok := w.last[row]; ok && before != xmax {
			changed[row] = true
		}
	}
	w.last = now
	return changed, nil
}
