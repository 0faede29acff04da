package interleave

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A finding is an outcome that a judge does not accept.
type finding struct {
	world   world
	fault   string
	outcome outcome
	order   []int    // the session of each step
	trace   []traced // the steps that have led there first
	times   int      // how many orders have the same outcome
}

func (f finding) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d orders end so, the first is -interleave.order=%s:\n", f.world.name, f.times,
		formatOrder(f.order))
	for _, step := range f.trace {
		fmt.Fprintln(&b, step)
	}
	return b.String() + f.outcome.String() + f.fault
}

// A tally counts what was run.
type tally struct {
	worlds, orders, runs, steps int
}

func (t *tally) add(o tally) {
	t.worlds += o.worlds
	t.orders += o.orders
	t.runs += o.runs
	t.steps += o.steps
}

func (t tally) String() string {
	return fmt.Sprintf("%d worlds, %d orders, %d runs, %d steps", t.worlds, t.orders, t.runs, t.steps)
}

// verdicts collects the findings of judges, each outcome once.
type verdicts struct {
	driver   *driver
	world    world
	judges   []judge
	seen     map[string]*finding // nil if the outcome is accepted
	findings []*finding
	orders   int
}

func (d *driver) newVerdicts(ctx context.Context, w world, judges []judge) (*verdicts, error) {
	for _, j := range judges {
		if err := j.prepare(ctx, d, w); err != nil {
			return nil, err
		}
	}
	return &verdicts{driver: d, world: w, judges: judges, seen: make(map[string]*finding)}, nil
}

// visit judges the run that has just ended.
func (v *verdicts) visit(ctx context.Context, order []int) error {
	v.orders++
	o, err := v.driver.outcome(ctx)
	if err != nil {
		return err
	}
	for _, i := range order {
		o.order = append(o.order, max(i, ^i)) // ^i: session i was ended
	}
	text := o.String() + newBounds(v.world, o).key()
	missed := v.driver.listener.missed(v.driver.failed())
	if f, ok := v.seen[text+missed]; ok {
		if f != nil {
			f.times++
		}
		return nil
	}
	v.seen[text+missed] = nil
	if missed != "" {
		v.find(o, order, text+missed, missed)
		return nil
	}
	for _, j := range v.judges {
		fault, err := j.fault(ctx, v.driver, v.world, o)
		if err != nil {
			return err
		}
		if fault != "" {
			v.find(o, order, text+missed, fault)
			return nil
		}
	}
	return nil
}

func (v *verdicts) find(o outcome, order []int, text, fault string) {
	f := &finding{v.world, fault, o, append([]int{}, order...), v.driver.trace, 1}
	v.seen[text] = f
	v.findings = append(v.findings, f)
}

// check runs a world in every order, or in most orders if that is not 0, and returns the findings.
func (d *driver) check(ctx context.Context, w world, most int, judges ...judge) ([]*finding, tally, error) {
	return d.judged(ctx, w, judges, func(v *verdicts) error {
		return d.explore(ctx, w, most, func(order []int) error { return v.visit(ctx, order) })
	})
}

// errFound ends a search.
var errFound = errors.New("found")

// search runs a world until judges find something that is not among the known findings.
func (d *driver) search(ctx context.Context, w world, judges ...judge) ([]*finding, tally, error) {
	return d.judged(ctx, w, judges, func(v *verdicts) error {
		err := d.explore(ctx, w, 0, func(order []int) error {
			if err := v.visit(ctx, order); err != nil {
				return err
			}
			v.findings = slices.DeleteFunc(v.findings, func(f *finding) bool { return knownWhy(f) != "" })
			if len(v.findings) == 0 {
				return nil
			}
			return errFound
		})
		if errors.Is(err, errFound) {
			return nil
		}
		return err
	})
}

// sample runs a world in this number of random orders, and returns the findings. If kill is true, one session of each
// run is ended at some step.
func (d *driver) sample(ctx context.Context, w world, random *rand.Rand, count int, kills bool,
	judges ...judge) ([]*finding, tally, error) {
	return d.judged(ctx, w, judges, func(v *verdicts) error {
		for range count {
			order, err := d.wander(ctx, w, random, kills)
			if err == nil {
				err = v.visit(ctx, order)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// again runs a world in one order, and returns the findings.
func (d *driver) again(ctx context.Context, w world, order []int, judges ...judge) ([]*finding, tally, error) {
	return d.judged(ctx, w, judges, func(v *verdicts) error {
		if err := d.follow(ctx, w, order); err != nil {
			return err
		}
		return v.visit(ctx, order)
	})
}

// judged returns the findings in the orders of a world that are run.
func (d *driver) judged(ctx context.Context, w world, judges []judge,
	run func(v *verdicts) error) ([]*finding, tally, error) {
	steps, runs := d.steps, d.runs
	v, err := d.newVerdicts(ctx, w, judges)
	if err == nil {
		err = run(v)
	}
	if err != nil {
		return nil, tally{}, fmt.Errorf("%s: %w", w.name, err)
	}
	return v.findings, tally{1, v.orders, d.runs - runs, d.steps - steps}, nil
}
