package interleave

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// origin is what a run began with: outcomes show times and new jobs in relation to it.
type origin struct {
	began  moment
	lastID int64
	lease  moment // of the job that is running
}

// makeWorld makes what there is before the calls, in one transaction of statements that the connection prepares once.
func makeWorld(ctx context.Context, conn *pgx.Conn, w world) (o origin, err error) {
	var batch pgx.Batch
	batch.Queue("select " + moments("now()")).QueryRow(func(row pgx.Row) error { return row.Scan(&o.began) })
	for _, sql := range append(split(w.setup), keepLease) {
		batch.Queue(sql)
	}
	batch.Queue(originQuery).QueryRow(func(row pgx.Row) error { return row.Scan(&o.lastID, &o.lease) })
	return o, conn.SendBatch(ctx, &batch).Close()
}

// split returns the statements of a text.
func split(text string) (statements []string) {
	from := 0
	for _, t := range scan(text + ";") {
		if t.text == ";" {
			if sql := strings.TrimSpace(text[from:t.start]); sql != "" {
				statements = append(statements, sql)
			}
			from = t.end
		}
	}
	return statements
}

// keepLease keeps the lease for the calls that name it.
const keepLease = `update interleave.lease
	set at = (select coalesce(max(graphile_worker._gw_lease(j.locked_at)), 0) from graphile_worker._private_jobs as j)`

const originQuery = `
	select (select coalesce(max(j.id), 0) from graphile_worker._private_jobs as j), at from interleave.lease`

// An outcome is the answers to the sessions of a world, and the content of the tables when all are done.
type outcome struct {
	answers [][]string // by session and statement; the last is that of commit. A failure is "error SQLSTATE", and the last
	tables  string     // state.text
	order   []int      // the session of each step
	leads   []bool     // of which sessions the first step only led to the first stop
	took    moment     // from the beginning of the run until its tables were read
}

func (o outcome) String() string {
	var b strings.Builder
	for i, answers := range o.answers {
		b.WriteString(sessionText(i, answers))
	}
	return b.String() + o.tables
}

func sessionText(i int, answers []string) string {
	return fmt.Sprintf("session %d: %s\n", i+1, strings.Join(answers, "; "))
}

// outcome returns what has come out of a run, in a form that does not depend on clocks.
func (d *driver) outcome(ctx context.Context) (o outcome, err error) {
	for _, s := range d.sessions {
		o.answers, o.leads = append(o.answers, s.answers), append(o.leads, s.leads)
	}
	got, err := readState(ctx, d.control)
	if err != nil {
		return o, err
	}
	o.tables, o.took = got.text(d.origin), got.ReadAt-d.origin.began
	return o, nil
}
