package interleave

import (
	"context"
	"fmt"
	"strings"
)

// A finding is an outcome that a judge has found fault with.
type finding struct {
	world   world
	fault   string
	outcome outcome
	order   []int    // the session of each step
	trace   []string // the first steps that have led there
	times   int      // how many orders have the same outcome
}

func (f finding) String() string {
	return fmt.Sprintf("%s: %d orders end so, the first by these steps:\n%s\n%s%s",
		f.world.name, f.times, strings.Join(f.trace, "\n"), f.outcome, f.fault)
}

// A tally is how much was run.
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

// check runs a world in every order and returns what judges find, each outcome once.
func (d *driver) check(ctx context.Context, w world, judges ...judge) (findings []*finding, did tally, err error) {
	steps, runs := d.steps, d.runs
	for _, j := range judges {
		if err := j.prepare(ctx, d, w); err != nil {
			return nil, did, fmt.Errorf("%s: %w", w.name, err)
		}
	}
	seen := make(map[string]*finding) // nil if it is as it should be
	err = d.explore(ctx, w, func(order []int) error {
		did.orders++
		o, err := d.outcome(ctx)
		if err != nil {
			return err
		}
		o.order = order
		text := o.String() + newBounds(len(w.sessions), o).key()
		if f, ok := seen[text]; ok {
			if f != nil {
				f.times++
			}
			return nil
		}
		seen[text] = nil
		for _, j := range judges {
			fault, err := j.fault(ctx, d, w, o)
			if err != nil {
				return err
			}
			if fault != "" {
				f := &finding{w, fault, o, append([]int{}, order...), d.trace, 1}
				seen[text] = f
				findings = append(findings, f)
				break
			}
		}
		return nil
	})
	if err != nil {
		return nil, did, fmt.Errorf("%s: %w", w.name, err)
	}
	did.worlds, did.runs, did.steps = 1, d.runs-runs, d.steps-steps
	return findings, did, nil
}
