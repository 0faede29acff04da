package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/gwsql/gw/bench/internal/harness"
	"github.com/gwsql/gw/bench/internal/queue"
	"github.com/gwsql/gw/bench/internal/server"
	"github.com/gwsql/gw/bench/internal/stats"
	"github.com/gwsql/gw/bench/internal/subject"
)

// A load is a number of ready jobs to run until none is left.
type load struct {
	jobs  int
	order subject.Order // what the jobs do
	async bool          // commits do not wait for the disk
	kept  bool          // the task of the jobs is kept
	watch func(*crew, subject.Status)
	fill  func(n int) []string // statements that add the jobs; nil: those of the contender

	// late adds the jobs in one transaction when all processes are idle, so that their starts are not measured.
	late    bool
	commits func(*crew) error // with late: called just before the commit
	done    func() error      // with late: called when no job is left, before the processes end
	ended   func(*crew) error // with late: called after the processes have ended, which report what they have read by then
}

// burned is the result of a load.
type burned struct {
	seconds float64 // from the first start until no job is left
	speed   float64 // jobs per second
	cpu     float64 // microseconds of the processes' processor time per job
}

// A namedLoad is a load of a scenario that compares ours with itself.
type namedLoad struct {
	name string
	load
}

// burnOurs runs loads with ours, in turns.
func (b *bench) burnOurs(ctx context.Context, all []namedLoad) (results, error) {
	found := results{}
	for round := range b.Rounds {
		for _, l := range harness.Turns(round, all) {
			one, err := b.burn(ctx, ours, l.load)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", l.name, err)
			}
			fmt.Fprintf(b.Progress, "round %d: %s: %.0f jobs/s, %.2f µs\n", round+1, l.name, one.speed, one.cpu)
			found.add(l.name, one)
		}
	}
	return found, nil
}

// burn runs a load with a contender and checks that each job ran once.
func (b *bench) burn(ctx context.Context, c contender, l load) (r burned, err error) {
	n := c.jobs(l.jobs)
	l.order.Do, l.order.Jobs = subject.Work, n
	err = b.employ(ctx, c, l.order, func(db *server.Database) error {
		if l.async {
			if err := db.Run(ctx, "alter database "+db.Name+" set synchronous_commit = off"); err != nil {
				return err
			}
		}
		if l.kept {
			if err := db.Run(ctx, queue.Keep); err != nil {
				return err
			}
		}
		if l.late {
			return db.Settle(ctx)
		}
		return db.Settle(ctx, l.statements(c, n)...)
	}, func(k *crew) error {
		if l.late {
			if err := k.addLate(ctx, l, n); err != nil {
				return err
			}
		}
		if r, err = k.burnDown(ctx, l, n); err != nil {
			return err
		}
		if l.late {
			if err := l.done(); err != nil {
				return err
			}
		}
		counts, err := k.stop(ctx)
		if err != nil {
			return err
		}
		if err := checkCounts(counts, 1); err != nil || !l.late {
			return err
		}
		return l.ended(k)
	})
	return r, err
}

// statements returns those that add the n jobs of the load.
func (l *load) statements(c contender, n int) []string {
	if l.fill != nil {
		return l.fill(n)
	}
	return []string{c.family.tables.fill(n)}
}

// burnDown waits until the n jobs of the load have been executed and none is left.
func (k *crew) burnDown(ctx context.Context, l load, n int) (r burned, err error) {
	var watch func(subject.Status) bool
	if l.watch != nil {
		watch = func(s subject.Status) bool { l.watch(k, s); return true }
	}
	if _, err := k.reach(ctx, n, watch); err != nil {
		return r, err
	}
	end, err := k.gone(ctx)
	if err != nil {
		return r, err
	}
	s, err := k.status(ctx)
	if err != nil {
		return r, err
	}
	if l.watch != nil {
		l.watch(k, s)
	}
	r.seconds = float64(end-s.First) / 1e9
	r.speed = float64(n) / r.seconds
	r.cpu = float64(s.CPU) / float64(n)
	return r, nil
}

// allIdle is whether this number of workers is registered, and no session has run a statement for a while.
const allIdle = `
	select (select count(*) = %d from graphile_worker._gw_workers)
	   and not exists (select from pg_stat_activity
	                    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'
	                      and (state <> 'idle' or state_change > clock_timestamp() - interval '500 ms'))`

// addLate waits until all processes are idle, and adds the jobs in one transaction.
func (k *crew) addLate(ctx context.Context, l load, n int) error {
	if err := k.db.Wait(ctx, fmt.Sprintf(allIdle, len(k.processes))); err != nil {
		return err
	}
	if err := k.db.Run(ctx, append([]string{"begin"}, l.statements(k.contender, n)...)...); err != nil {
		return err
	}
	if err := l.commits(k); err != nil {
		return err
	}
	return k.db.Run(ctx, "commit")
}

// employ prepares a database, starts a crew on it, and calls the function that measures.
func (b *bench) employ(ctx context.Context, c contender, order subject.Order, prepare func(*server.Database) error,
	do func(*crew) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", c.name, err)
		}
	}()
	db, err := b.Copy(ctx, c.family.template)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Drop(context.WithoutCancel(ctx))) }()
	if err := prepare(db); err != nil {
		return err
	}
	k, err := b.hire(ctx, db, c, order)
	if err != nil {
		return err
	}
	defer k.dismiss()
	if err := k.begin(); err != nil {
		return err
	}
	return do(k)
}

// results are the figures of several contenders, by name.
type results map[string]*figures

// figures are the measurements of a contender, one value per round.
type figures struct{ seconds, speed, cpu stats.Series }

func (r results) add(name string, one burned) {
	f := r[name]
	if f == nil {
		f = &figures{}
		r[name] = f
	}
	f.seconds, f.speed, f.cpu = append(f.seconds, one.seconds), append(f.speed, one.speed), append(f.cpu, one.cpu)
}

// best returns the name and the speeds of the fastest contender of a family; nil if none was measured.
func (r results) best(f *family, all []contender) (name string, speed stats.Series) {
	for _, c := range all {
		if c.family == f && (speed == nil || r[c.name].speed.Median() > speed.Median()) {
			name, speed = c.name, r[c.name].speed
		}
	}
	return name, speed
}
