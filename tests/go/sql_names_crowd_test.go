package gotest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"
)

// Producers at all isolation levels, with names in any order, workers and cleanup together: nobody dead-locks, no job is
// left without its names, none is lost. Beside them a stranger may take and release the advisory locks of names.
func TestProducersWorkersAndCleanupDoNotDisturbEachOther(t *testing.T) {
	for _, strangers := range []int{0, 1} {
		t.Run(fmt.Sprint("strangers: ", strangers), func(t *testing.T) { produceAndCleanUp(t, strangers) })
	}
}

// A crowd is sessions that work until stop is closed.
type crowd struct{ stop chan struct{} }

// over reports whether the crowd is to stop.
func (c *crowd) over() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}

// repeat calls act until the crowd is to stop.
func (c *crowd) repeat(act func() error) error {
	for {
		if err := act(); err != nil || c.over() {
			return err
		}
	}
}

// produce adds jobs with three of these names in random order, that many times, and returns their ids.
func (c *crowd) produce(ctx context.Context, conn *pgx.Conn, isolation string, names,
	calls int) (added []int64, err error) {
	for range calls {
		order := rand.Perm(names)[:3]
		tasks, queues := make([]string, 3), make([]string, 3)
		for i, n := range order {
			tasks[i], queues[i] = fmt.Sprint("task ", n), fmt.Sprint("queue ", names-n)
		}
		ids, err := insist(isolation, func() ([]int64, error) {
			return query[int64](ctx, conn, `
				select j.id
				  from graphile_worker.add_jobs((
				         select array_agg((u.task, null, u.queue, null, null, null, null, null)::graphile_worker.job_spec)
				           from unnest($1::text[], $2::text[]) as u (task, queue))) as j`, tasks, queues)
		})
		if err != nil {
			return nil, fmt.Errorf("a producer at %s: %w", isolation, err)
		}
		added = append(added, ids...)
	}
	return added, nil
}

// work runs jobs until none is left after the crowd was to stop, and returns their ids.
func (c *crowd) work(ctx context.Context, conn *pgx.Conn, worker string) (done []int64, err error) {
	for {
		last := c.over()
		jobs, err := claim(ctx, conn, worker, 4)
		if err != nil || last && len(jobs) == 0 {
			return done, err
		}
		for _, job := range jobs {
			done = append(done, job.ID)
			if err := report(ctx, conn, readCommitted, "select graphile_worker.complete_job($1, $2, $3)", worker,
				job.ID, job.Lease); err != nil {
				return nil, err
			}
		}
	}
}

func produceAndCleanUp(t *testing.T, strangers int) {
	const (
		producers, calls, cleaners, workers = 6, 40, 2, 2
		names                               = 6
	)
	db := newDatabase(t)
	c := &crowd{stop: make(chan struct{})}
	var (
		producing, working errgroup.Group
		added              [producers][]int64
		done               [workers][]int64
	)
	for p := range producers {
		isolation := []string{readCommitted, readCommitted, repeatableRead, serializable}[p%4]
		conn := db.sessionAt(isolation).conn
		producing.Go(func() (err error) {
			added[p], err = c.produce(t.Context(), conn, isolation, names, calls)
			return err
		})
	}
	for range cleaners {
		conn := db.session().conn
		working.Go(func() error {
			return c.repeat(func() error {
				if _, err := query[int64](t.Context(), conn, collect); err != nil {
					return fmt.Errorf("a cleanup: %w", err)
				}
				return nil
			})
		})
	}
	for range strangers {
		conn := db.session().conn
		working.Go(func() error { return c.repeat(func() error { return lockNames(t.Context(), conn) }) })
	}
	for w := range workers {
		conn := db.session().conn
		working.Go(func() (err error) {
			done[w], err = c.work(t.Context(), conn, fmt.Sprint("worker ", w))
			return err
		})
	}
	producerErr := producing.Wait()
	close(c.stop)
	if workErr := working.Wait(); producerErr != nil || workErr != nil {
		t.Fatalf("producers: %v; the others: %v", producerErr, workErr)
	}
	ran, wanted := slices.Concat(done[:]...), slices.Concat(added[:]...)
	slices.Sort(ran)
	slices.Sort(wanted)
	if !slices.Equal(ran, wanted) {
		t.Errorf("%d jobs ran, %d were added: want the same ones, each once", len(ran), len(wanted))
	}
	if left := one[int](db.watcher, "select count(*) from graphile_worker._private_jobs"); left != 0 {
		t.Errorf("%d jobs are left; %d of them without their names", left, one[int](db.watcher, strays))
	}
}

// lockNames takes and releases advisory locks of names.
func lockNames(ctx context.Context, conn *pgx.Conn) error {
	_, err := conn.Exec(ctx, `
		select pg_advisory_lock(7239152::bigint * 4294967296 + n) from generate_series(0, 127) as n where random() < 0.5;
		select pg_advisory_unlock_all()`)
	if err != nil {
		return fmt.Errorf("a stranger: %w", err)
	}
	return nil
}
