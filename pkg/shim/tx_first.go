package shim

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// sendFirst sends the first statement of a job together with the savepoint before it, which saves a round trip. It returns
// nil if there is nothing to save, or if a batch of pgx would send the statement in another way than a single call does:
// without arguments it may be several statements, and options are not supported.
func (r *txBatch) sendFirst(ctx context.Context, sql string, args []any) pgx.BatchResults {
	if r.isFresh || len(args) == 0 || ctx.Err() != nil {
		return nil
	}
	switch args[0].(type) {
	case pgx.QueryExecMode, pgx.QueryResultFormats, pgx.QueryResultFormatsByOID:
		return nil
	}
	all := &pgx.Batch{}
	all.Queue("release savepoint gw_job")
	all.Queue("savepoint gw_job")
	all.Queue(sql, args...)
	r.savepoints++
	results := r.conn.SendBatch(ctx, all)
	for range 2 {
		if _, err := results.Exec(); err != nil {
			// The statement may be invalid, so that nothing was sent. The last savepoint is that of an earlier job then,
			// and must not be rolled back to.
			_ = results.Close()
			_ = r.conn.Close(ctx)
			return pgx.FailedBatchResults(all, err)
		}
	}
	return results
}

// firstRow is the row of a job's first statement.
type firstRow struct{ results pgx.BatchResults }

func (r firstRow) Scan(dst ...any) error {
	err := r.results.QueryRow().Scan(dst...)
	if closed := r.results.Close(); err == nil {
		err = closed
	}
	return err
}

// firstRows are the rows of a job's first statement. Like others, they are closed when all are read.
type firstRows struct {
	pgx.Rows
	results pgx.BatchResults
}

func (r firstRows) Next() bool {
	more := r.Rows.Next()
	if !more {
		_ = r.results.Close()
	}
	return more
}

func (r firstRows) Scan(dst ...any) error {
	err := r.Rows.Scan(dst...)
	if err != nil {
		r.Close()
	}
	return err
}

func (r firstRows) Close() {
	r.Rows.Close()
	_ = r.results.Close()
}

func queryFirst(results pgx.BatchResults) (pgx.Rows, error) {
	rows, err := results.Query()
	if err != nil {
		_ = results.Close()
	}
	return firstRows{rows, results}, err
}

func execFirst(results pgx.BatchResults) (pgconn.CommandTag, error) {
	tag, err := results.Exec()
	if closed := results.Close(); err == nil {
		err = closed
	}
	return tag, err
}
