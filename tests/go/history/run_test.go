package history

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/gwsql/gw/internal/pgtest"
)

// profile is the participants of a run.
type profile struct {
	name                               string
	producers, claimers, shims, admins int // sessions, and workers of pkg/shim
	deciders                           int // sessions that call add_job_once, debounce_job and throttle_job
	floods, inTransactions             int // sessions that add many jobs that run in transactions, and workers that run these
	queues                             int
	keys                               int
	killEvery                          int // on average one in this number of calls of mortal sessions is killed
	limits                             []pgtest.Limit
	part                               int // it makes one in this number of the calls; 0 is all
}

// In addition to the participants counted here, each run has a session that kills others.
var (
	crowd = profile{name: "24 sessions on 3 keys", producers: 11, claimers: 9, shims: 1, admins: 2, keys: 3,
		queues: 2, killEvery: 150}
	decided = profile{name: "15 sessions on 6 keys that decide", producers: 2, deciders: 8, claimers: 4, admins: 1,
		keys: 6, queues: 2, killEvery: 150, part: 5}

	spread = profile{name: "8 sessions on 1000 keys", producers: 3, claimers: 3, admins: 1, keys: 1000, queues: 20,
		killEvery: 150}

	transacted = profile{name: "10 sessions and 3 workers whose transactions complete jobs", producers: 3, floods: 2,
		claimers: 4, admins: 1, inTransactions: 3, keys: 20, queues: 2,
		killEvery: 150, part: 2}

	limited = profile{name: "14 sessions under limits", producers: 5, claimers: 7, shims: 1, admins: 1, keys: 20,
		queues: 2, killEvery: 150,
		limits: []pgtest.Limit{{Name: "narrow", Task: "plain", Most: 2}, {Name: "wide", Task: "other", Most: 3},
			{Name: "shared", Task: "shared", Most: 5}}}
)

// tasks are the tasks of direct calls. Other workers only have the first one.
var tasks = []string{"shared", "plain", "other"}

// run is the shared state of the sessions of a run.
type run struct {
	url     string
	seed    uint64
	profile profile
	calls   int64 // the number of calls after which the sessions end

	// stopOthers stops the other workers and returns their events. It is nil if there are none.
	stopOthers func(context.Context) ([]*event, error)

	made    atomic.Int64
	enough  chan struct{} // closed when that number of calls was made
	numbers atomic.Int64  // of the last request
	victims chan uint32   // backends that the killer is to end

	mu     sync.Mutex
	counts map[string]int
	ids    []int64  // of jobs added lately
	dead   []string // workers that crashed
	events []*event
}

func newRun(t *testing.T, p profile, seed uint64, calls int) *run {
	t.Helper()
	url := pgtest.Database(t)
	pool := pgtest.Pool(t, url)
	pgtest.Exec(t, pool, rowOf)
	pgtest.Exec(t, pool, "select graphile_worker.set_setting('stale_sweep_every', '1 second')")
	if p.inTransactions > 0 {
		pgtest.Exec(t, pool, effects)
	}
	if err := pgtest.SetLimits(t.Context(), pool, p.limits...); err != nil {
		t.Fatal(err)
	}
	return &run{
		url: url, seed: seed, profile: p, calls: int64(calls), victims: make(chan uint32, 100),
		enough: make(chan struct{}), counts: map[string]int{},
	}
}

// over reports whether enough calls were made.
func (r *run) over() bool { return r.made.Load() >= r.calls }

func (r *run) count(k kind) {
	if r.made.Add(1) == r.calls {
		close(r.enough)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts["call "+string(k)]++
}

func (r *run) countCode(code string) {
	if code == done {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts["answer "+code]++
}

func (r *run) remember(rows []row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, each := range rows {
		r.ids = append(r.ids, each.id)
	}
	if over := len(r.ids) - 200; over > 0 {
		r.ids = slices.Delete(r.ids, 0, over)
	}
}

// bury records that a worker will not continue.
func (r *run) bury(worker string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.dead = append(r.dead, worker)
}

// history runs all participants and returns the events, and the tables at the end.
func (r *run) history(ctx context.Context) ([]*event, final, error) {
	killing, stopKilling := context.WithCancel(ctx)
	defer stopKilling()
	var killer errgroup.Group
	killer.Go(func() error { return r.kill(killing) })

	everybody, working := errgroup.WithContext(ctx)
	started := 0
	start := func(count int, work func(context.Context, *session) error) {
		for range count {
			started++
			number := started
			everybody.Go(func() error { return r.play(working, number, work) })
		}
	}
	start(r.profile.producers, r.produce)
	start(r.profile.deciders, r.decide)
	start(r.profile.claimers, r.work)
	start(r.profile.admins, r.administer)
	start(r.profile.shims, r.shim)
	start(r.profile.floods, r.flood)
	start(r.profile.inTransactions, r.inTransactions)
	err := everybody.Wait()
	stopKilling()
	if killed := killer.Wait(); err == nil {
		err = killed
	}
	if err != nil {
		return nil, final{}, err
	}
	if r.stopOthers != nil {
		others, err := r.stopOthers(ctx)
		if err != nil {
			return nil, final{}, err
		}
		r.events = append(r.events, others...)
	}
	nameEffects(r.events)
	var end final
	err = r.play(ctx, 0, func(ctx context.Context, s *session) error {
		if err := r.drain(ctx, s); err != nil {
			return fmt.Errorf("drain: %w", err)
		}
		end, err = r.last(ctx, s)
		return err
	})
	return r.events, end, err
}

// play runs one session and collects its events.
func (r *run) play(ctx context.Context, number int, work func(context.Context, *session) error) error {
	s, err := r.session(ctx, number)
	if err != nil {
		return err
	}
	err = work(ctx, s)
	s.close()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, s.events...)
	return err
}

// kill ends the backends that are sent to r.victims.
func (r *run) kill(ctx context.Context) error {
	s, err := r.session(ctx, -1)
	if err != nil {
		return err
	}
	defer s.close()
	for {
		select {
		case <-ctx.Done():
			return nil
		case pid := <-r.victims:
			if _, err := s.query(ctx, "select pg_terminate_backend($1)", pid); err != nil && ctx.Err() == nil {
				return fmt.Errorf("kill: %w", err)
			}
			r.countCode("kill")
		}
	}
}
