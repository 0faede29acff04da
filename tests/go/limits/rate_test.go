package limits

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/gwsql/gw/internal/pgtest"
)

const (
	rate  = 60 // a second; slow enough to be reached on a loaded machine
	burst = 5
)

// No window of any length has more starts than rate times its length, and burst. A start is the locked_at of a claim; a
// job that goes back to the queue has not been started.
func TestNoWindowHasMoreStartsThanItsRateAllows(t *testing.T) {
	started := startAtARate(t, pgtest.Pool(t, pgtest.Database(t)))
	if excess := overRate(started); excess != "" {
		t.Error(excess)
	}
}

func TestABrokenRateIsSeen(t *testing.T) {
	for _, m := range pgtest.Mutants([]struct{ name, function, sound, broken string }{
		{"starts are free", "_gw_start_jobs", "count(*), count(*),", "count(*), 0,"},
		{"a batch is charged as one start", "_gw_start_jobs", "count(*), count(*),", "count(*), 1,"},
		{"a rate takes back what it has made up for", "_gw_release_gates", "clock_timestamp() - o.held_at",
			"interval '0'"},
	}) {
		t.Run(m.name, func(t *testing.T) {
			pool := pgtest.Pool(t, pgtest.Database(t))
			if err := pgtest.Mutate(t.Context(), pool, m.function, m.sound, m.broken); err != nil {
				t.Fatal(err)
			}
			excess := ""
			for n := 0; n < 8 && excess == ""; n++ { // a rate may be held by chance
				excess = overRate(startAtARate(t, pool))
			}
			if excess == "" {
				t.Error("nothing was seen")
			}
			t.Log(excess)
		})
	}
}

// startAtARate lets workers claim jobs with a rate limit, and return some of them, until all have ended. It returns
// when those that did not go back were claimed.
func startAtARate(t *testing.T, pool *pgxpool.Pool) (started []time.Time) {
	t.Helper()
	pgtest.Exec(t, pool, fmt.Sprintf(`
		select graphile_worker.set_limit('calls', tasks => '{call}', rate => %d, per => '1 second', burst => %d);
		select count(*)
		  from graphile_worker.add_jobs(array(
		         select row('call', null, null, null, null, null, null, null)::graphile_worker.job_spec
		           from generate_series(1, 120) as n))`, rate, burst))
	var mu sync.Mutex
	waited := false
	var workers errgroup.Group
	for n := range 3 {
		w := rateWorker{pool: pool, name: fmt.Sprintf("w%d", n), rand: rand.New(rand.NewPCG(rand.Uint64(), uint64(n)))}
		workers.Go(func() error {
			for {
				claimed, err := w.claim(t)
				if err != nil {
					return err
				}
				if len(claimed) == 0 && len(w.held) == 0 {
					if left, err := w.left(t); err != nil || !left {
						return err
					}
					mu.Lock()
					waited = true
					mu.Unlock()
				}
				kept, err := w.end(t)
				if err != nil {
					return err
				}
				mu.Lock()
				started = append(started, kept...)
				mu.Unlock()
			}
		})
	}
	if err := workers.Wait(); err != nil {
		t.Fatal(err)
	}
	if !waited {
		t.Log("no worker waited for the rate: the machine is too slow to reach it")
	}
	return started
}

// overRate returns the first window with too many starts, in words; empty if there is none.
func overRate(started []time.Time) string {
	slices.SortFunc(started, time.Time.Compare)
	for first := range started {
		for last := first; last < len(started); last++ {
			window := started[last].Sub(started[first])
			if starts, most := last-first+1, burst+int(rate*window.Seconds()+1e-6); starts > most {
				return fmt.Sprintf("%d jobs start within %s, at most %d may", starts, window, most)
			}
		}
	}
	return ""
}

// rateWorker completes most of its jobs. It returns the others at once, or when the time of their starts is past: then
// there is nothing left to refund.
type rateWorker struct {
	pool *pgxpool.Pool
	name string
	rand *rand.Rand
	held []start
}

type start struct {
	id       int64
	at       time.Time
	goesBack time.Time // zero: the job is completed
}

func (w *rateWorker) claim(t *testing.T) ([]start, error) {
	rows, err := w.pool.Query(t.Context(), "select id from graphile_worker.get_job_batch($1, batch_size => $2)", w.name,
		1+w.rand.IntN(4))
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	rows, err = w.pool.Query(t.Context(), "select id, locked_at from graphile_worker._private_jobs where id = any ($1)",
		ids)
	if err != nil {
		return nil, err
	}
	claimed, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (s start, err error) {
		return s,
			row.Scan(&s.id, &s.at)
	})
	for n := range claimed {
		if w.rand.IntN(3) == 0 {
			claimed[n].goesBack = time.Now().Add(time.Duration(w.rand.IntN(2)) * (burst + 3) * time.Second / rate)
		}
	}
	w.held = append(w.held, claimed...)
	return claimed, err
}

// end ends most of the jobs that it holds, and returns when those were claimed that did not go back.
func (w *rateWorker) end(t *testing.T) (kept []time.Time, err error) {
	var left []start
	for _, s := range w.held {
		switch {
		case !s.goesBack.IsZero() && time.Now().Before(s.goesBack) || s.goesBack.IsZero() && w.rand.IntN(2) == 0:
			left = append(left, s)
		case !s.goesBack.IsZero():
			_, err = w.pool.Exec(t.Context(), "select graphile_worker.return_job($1, $2)", w.name, s.id)
		default:
			_, err = w.pool.Exec(t.Context(), "select graphile_worker.complete_job($1, $2)", w.name, s.id)
			kept = append(kept, s.at)
		}
		if err != nil {
			return nil, err
		}
	}
	w.held = left
	return kept, nil
}

func (w *rateWorker) left(t *testing.T) (left bool, err error) {
	err = w.pool.QueryRow(t.Context(), "select exists (select from graphile_worker._private_jobs)").Scan(&left)
	return left, err
}
