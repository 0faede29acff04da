package shim

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// lock begins the transaction and locks the jobs.
func (r *txBatch) lock(ctx context.Context) error {
	q, from := r.batches.queries, r.next.from
	all := &pgx.Batch{}
	all.BeginTx(pgx.TxOptions{}) // at the level that the connection has; the function refuses others than READ COMMITTED
	all.Queue(q.text(`
		select b.id, $7::text, b.payload, null::text, b.priority, b.run_at, 1::smallint, b.max_attempts, null::text, null::jsonb,
		       b.lease, b.created_at, b.last_error, b.revision, null::double precision, null::boolean, `+noStreak+`, b.place
		  from S._gw_lock_tx_batch($1::text, $2::integer, $3::integer, $4::smallint, $5::timestamptz, $6::bigint) as b`),
		q.workerID, r.next.slot.number, r.next.size, from.priority, from.runAt, from.id, r.next.of.name).
		Query(func(rows pgx.Rows) error {
			var answer claimed
			var place string
			reader := newClaimReader(q, []string{r.next.of.name})
			reader.columns = append(reader.columns, &place)
			for rows.Next() {
				if err := reader.read(rows, &answer); err != nil {
					return err
				}
				r.places = append(r.places, place)
			}
			for _, job := range answer.jobs {
				job.hold.batch = r
			}
			r.jobs = answer.jobs
			return rows.Err()
		})
	all.Queue("savepoint gw_job")
	results := r.conn.SendBatch(ctx, all)
	r.tx, r.isFresh = results.Tx(), true
	return results.Close()
}

// commit ends the batch: it completes jobs, claims others, and commits. done and claimed are positions in outcomes. It
// returns the size of the next batch.
func (r *txBatch) commit(outcomes []outcome, done, claimed []int) (size int, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.executor.handling), callTimeout)
	defer cancel()
	var ids []int64
	var results []string
	for _, i := range done {
		if job := outcomes[i].job; job.result != "" {
			ids, results = append(ids, job.ID), append(results, job.result)
		}
	}
	most := mostBatch
	if r.savepoints > 0 {
		most = min(most, max(leastBatch, r.ran*mostSavepoints/r.savepoints))
	}
	q := r.batches.queries
	all := &pgx.Batch{}
	all.Queue(q.text(`
		select S._gw_end_tx_batch($1::text, $2::integer, $3::text[]::pg_catalog.tid[], $4::text[]::pg_catalog.tid[], $5::bigint,
		                          $6::bigint[], $7::text[]::json[], $8::integer, $9::double precision, $10::integer)`),
		q.workerID, r.next.slot.number, r.placesAt(done), r.placesAt(claimed), r.jobs[0].Lease,
		ids, results, r.next.size, r.mean.Seconds(), most).
		QueryRow(func(row pgx.Row) error { return row.Scan(&size) })
	all.Queue("commit").Exec(func(tag pgconn.CommandTag) error {
		if tag.String() == "ROLLBACK" {
			return pgx.ErrTxCommitRollback
		}
		return nil
	})
	r.isSent = true
	return size, r.conn.SendBatch(ctx, all).Close()
}

func (r *txBatch) placesAt(positions []int) []string {
	if len(positions) == len(r.places) {
		return r.places
	}
	places := make([]string, len(positions))
	for at, i := range positions {
		places[at] = r.places[i]
	}
	return places
}
