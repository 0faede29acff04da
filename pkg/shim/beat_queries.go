package shim

import (
	"context"
	"math"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/gwsql/gw/internal/seconds"
	"github.com/gwsql/gw/internal/sqlstate"
)

// pulse is the answer to a heartbeat.
type pulse struct {
	registered bool
	leases     map[int64]int64  // of the jobs that are held, by job id: the new ones
	next       time.Duration    // until the next heartbeat, 0 if there is more to recover
	aloneWaits bool             // a suspect is waiting
	died       []string         // workers whose jobs are now all recovered
	freed      int64            // jobs that this call freed
	canceled   map[int64]string // jobs of this worker that were canceled, with the reasons, which may be empty
	drained    bool             // the worker must claim no more jobs
	rated      bool             // limits with a rate may apply to the worker's jobs
}

// heartbeat records that the worker is alive, that it runs these jobs, and what it holds, and stores the progress of
// jobs.
func (q *queries) heartbeat(
	ctx context.Context, timeout time.Duration, jobs []*Job, claimed told, unsent []*progress, reconnected bool,
) (p pulse, err error) {
	ids, held := make([]int64, len(jobs)), make([]int64, len(jobs))
	for i, job := range jobs {
		ids[i], held[i] = job.ID, job.hold.lease.Load()
	}
	err = q.callWithin(ctx, timeout, func(ctx context.Context, conn *pgx.Conn) error {
		var next float64
		var canceled []int64
		var reasons []string
		beat := func() error {
			progress, args := q.progressOf(unsent, q.workerID, ids, held, reconnected, claimed.running, claimed.waiting,
				claimed.ids)
			return conn.QueryRow(ctx, q.text(`
				select b.registered, b.held_ids, b.held_leases, extract(epoch from b.next_in)::double precision, b.alone_waits,
				       b.died, b.freed, b.canceled_ids, b.reasons, b.drained, S._gw_has_rate($1::text)
				  from S.heartbeat($1::text, $2::bigint[], $3::bigint[], $4::boolean, $5::integer, $6::integer, $7::bigint[]) as b`+progress), args...).
				Scan(&p.registered, &ids, &held, &next, &p.aloneWaits, &p.died, &p.freed, &canceled, &reasons,
					&p.drained, &p.rated)
		}
		err := beat()
		if len(unsent) > 0 && (sqlstate.IsRefusal(err) || sqlstate.In(err, "42")) && !q.hasNoProgress.Swap(true) {
			q.worker.ownLogger().Warn("progress of jobs cannot be stored, the worker continues without it",
				"error", err)
			err = beat()
		}
		if err != nil {
			return err
		}
		p.next = seconds.Duration(next)
		p.leases = make(map[int64]int64, len(ids))
		for i, id := range ids {
			p.leases[id] = held[i]
		}
		p.canceled = make(map[int64]string, len(canceled))
		for i, id := range canceled {
			p.canceled[id] = reasons[i]
		}
		return nil
	})
	return p, err
}

// progressOf returns what stores the progress of jobs within the statement of a heartbeat, and all of its arguments.
// The jobs are found without their leases, which the heartbeat may change.
func (q *queries) progressOf(unsent []*progress, args ...any) (sql string, all []any) {
	if len(unsent) == 0 || q.hasNoProgress.Load() {
		return "", args
	}
	ids, leases := make([]int64, len(unsent)), make([]*int64, len(unsent))
	percents, notes := make([]*float64, len(unsent)), make([]*string, len(unsent))
	for i, p := range unsent {
		ids[i] = p.job.ID
		if !math.IsNaN(p.percent) {
			percents[i] = &p.percent
		}
		if p.note != "" {
			notes[i] = &p.note
		}
	}
	return `
		 cross join S._gw_set_progress($1::text, $8::bigint[], $9::bigint[], $10::double precision[], $11::text[]) as stored`,
		append(args, ids, leases, percents, notes)
}
