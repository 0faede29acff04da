package serve

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/gwsql/gw/internal/reshard"
	"github.com/gwsql/gw/pkg/shim"
)

const (
	// loadTime is how long a shard may take to say how busy it is.
	loadTime = 5 * time.Second
	// homesEvery is the time between two checks whether each shard is the home of a worker.
	homesEvery = 5 * time.Second
	// resumeEvery is the time between two searches for moves that were interrupted, and resumeAfter how long a slot must
	// have been on its way.
	resumeEvery = 15 * time.Second
	resumeAfter = time.Minute
)

// load returns how many workers are at home in each shard, and its jobs; false if it cannot be reached.
func (m *member) load(ctx context.Context) (homes, jobs int64, ok bool) {
	ctx, cancel := context.WithTimeout(ctx, loadTime)
	defer cancel()
	homes, jobs, err := shim.NewClient(m.pool, shim.ClientConfig{Schema: m.o.Schema}).ShardLoad(ctx)
	return homes, jobs, err == nil
}

// chooseHome returns the home of the map, otherwise the shard with the most jobs for each worker at home there, the new one
// included; among equal ones that with the fewest workers.
func (f *fleet) chooseHome(ctx context.Context) string {
	if f.o.Shards.Home != "" {
		return f.o.Shards.Home
	}
	type load struct {
		homes, jobs int64
		ok          bool
	}
	loads := make([]load, len(f.members))
	var asking sync.WaitGroup
	for i, m := range f.members {
		asking.Go(func() { loads[i].homes, loads[i].jobs, loads[i].ok = m.load(ctx) })
	}
	asking.Wait()
	best := rand.IntN(len(loads)) // processes that start together spread
	for n := range loads {
		i := (best + n) % len(loads)
		switch a, b := loads[i], loads[best]; {
		case !a.ok:
		case !b.ok, a.jobs*(b.homes+1) > b.jobs*(a.homes+1), a.jobs*(b.homes+1) == b.jobs*(a.homes+1) && a.homes < b.homes:
			best = i
		}
	}
	return f.members[best].shard.Name
}

// keepHomes makes the visitor of a shard that is the home of no worker claim as if it were at home there, so that no shard is
// left without workers while there are fewer processes than shards.
func (f *fleet) keepHomes(ctx context.Context) {
	again := time.NewTicker(homesEvery)
	defer again.Stop()
	for {
		for _, m := range f.members {
			m.mu.Lock()
			worker := m.worker
			m.mu.Unlock()
			if worker == nil || m.shard.Name == f.home {
				continue
			}
			if homes, _, ok := m.load(ctx); ok {
				worker.SetVisitor(homes > 0)
			}
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
	}
}

// keepMoving completes moves of slots whose mover has ended. It does nothing while a shard cannot be reached, or if the role
// may not move slots.
func (f *fleet) keepMoving(ctx context.Context) {
	again := time.NewTicker(resumeEvery)
	defer again.Stop()
	for {
		select {
		case <-again.C:
		case <-ctx.Done():
			return
		}
		if f.isMoving(ctx) {
			if err := f.resumeMoves(ctx); err != nil {
				f.o.Logger.Warn("an interrupted move of slots could not be completed, worker will try again", "error", err)
			}
		}
	}
}

// isMoving returns whether a slot of a shard has been on its way for long.
func (f *fleet) isMoving(ctx context.Context) bool {
	for _, m := range f.members {
		ctx, cancel := context.WithTimeout(ctx, loadTime)
		moving, err := shim.NewClient(m.pool, shim.ClientConfig{Schema: m.o.Schema}).SlotsInMotion(ctx, resumeAfter)
		cancel()
		if err == nil && moving > 0 {
			return true
		}
	}
	return false
}

func (f *fleet) resumeMoves(ctx context.Context) error {
	mover := reshard.Mover{Wait: resumeAfter, Logger: f.o.Logger}
	for _, s := range f.o.Shards.Shards {
		d, err := reshard.Connect(ctx, s, f.o.Schema)
		if err != nil {
			return err
		}
		defer d.Close()
		mover.Databases = append(mover.Databases, d)
	}
	moved, err := mover.Resume(ctx, resumeAfter)
	f.o.Logger.Info("interrupted move of slots resumed", "slots", moved.Slots, "jobs", moved.Jobs)
	return err
}
