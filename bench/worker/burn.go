package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/gwsql/gw/bench/internal/server"
	"github.com/gwsql/gw/bench/internal/stats"
	"github.com/gwsql/gw/bench/internal/subject"
)

// A load is a number of ready jobs to run until none is left.
type load struct {
	jobs  int
	order subject.Order // what the jobs do
	async bool          // commits do not wait for the disk
	watch func(*crew, subject.Status)
	fill  func(n int) []string // statements that add the jobs; nil: those of the contender
	began func() error         // called before the processes begin
	ended func(*crew) error    // called after the processes have ended
}

// burned is the result of a load.
type burned struct {
	seconds float64 // from the first start until no job is left
	speed   float64 // jobs per second
	cpu     float64 // microseconds of the processes' processor time per job
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
		statements := []string{c.family.tables.fill(n)}
		if l.fill != nil {
			statements = l.fill(n)
		}
		if err := db.Settle(ctx, statements...); err != nil || l.began == nil {
			return err
		}
		return l.began()
	}, func(k *crew) error {
		var watch func(subject.Status) bool
		if l.watch != nil {
			watch = func(s subject.Status) bool { l.watch(k, s); return true }
		}
		if _, err := k.reach(ctx, n, watch); err != nil {
			return err
		}
		end, err := k.gone(ctx)
		if err != nil {
			return err
		}
		s, err := k.status(ctx)
		if err != nil {
			return err
		}
		if l.watch != nil {
			l.watch(k, s)
		}
		r.seconds = float64(end-s.First) / 1e9
		r.speed = float64(n) / r.seconds
		r.cpu = float64(s.CPU) / float64(n)
		counts, err := k.stop(ctx)
		if err != nil {
			return err
		}
		if err := checkCounts(counts, 1); err != nil || l.ended == nil {
			return err
		}
		return l.ended(k)
	})
	return r, err
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
