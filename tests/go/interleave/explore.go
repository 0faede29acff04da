package interleave

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// node is a state of a world from which one session or another can do the next step.
type node struct {
	can    []int
	prints map[int]footprint // of the next step of each session that can do one
	sleep  map[int]bool      // sessions whose step from here leads to orders that are equivalent to ones already seen
	tried  []int
}

// dependent tells whether the order of two steps of different sessions can matter. A row that is changed but not committed
// is invisible to readers: what a reader depends on is the commit, which counts as a write of all that was written.
func dependent(a, b footprint) bool {
	return overlap(a.writes, b.writes) || overlap(a.shown, b.reads) || overlap(b.shown, a.reads)
}

func overlap(a, b map[string]bool) bool {
	for name := range a {
		if b[name] {
			return true
		}
	}
	return false
}

// explore runs a world in every order of steps, but for orders that are equivalent to others: those in which neighbouring
// steps that do not depend on each other have changed places (sleep sets, as Godefroid has them). It calls visit after each.
func (d *driver) explore(ctx context.Context, w world, visit func(order []int) error) error {
	var path []*node
	for {
		order, err := d.replay(ctx, w, path)
		if err != nil {
			return err
		}
		complete := true
		for !d.over() {
			n := d.newNode(path)
			if len(n.can) == 0 {
				if err := d.awaitDeadlock(ctx); err != nil {
					return err
				}
				continue
			}
			path = append(path, n)
			i, ok := n.choose()
			if !ok {
				complete = false
				if err := d.finish(ctx); err != nil {
					return err
				}
				break
			}
			order = append(order, i)
			if err := d.step(ctx, i); err != nil {
				return fmt.Errorf("order %v: %w", order, err)
			}
		}
		if complete {
			if err := visit(order); err != nil {
				return err
			}
		}
		for len(path) > 0 && !path[len(path)-1].more() {
			path = path[:len(path)-1]
		}
		if len(path) == 0 {
			return nil
		}
		path[len(path)-1].choose()
	}
}

// replay begins the world, and takes the path's last choices again.
func (d *driver) replay(ctx context.Context, w world, path []*node) (order []int, err error) {
	if err := d.begin(ctx, w); err != nil {
		return nil, err
	}
	for _, n := range path {
		for len(d.enabled()) == 0 {
			if err := d.awaitDeadlock(ctx); err != nil {
				return nil, err
			}
		}
		if can := d.enabled(); !slices.Equal(can, n.can) {
			return nil, fmt.Errorf("world %s is not the same each time: after %v sessions %v can go on, and before %v", w.name, order, can, n.can)
		}
		i := n.tried[len(n.tried)-1]
		order = append(order, i)
		if err := d.step(ctx, i); err != nil {
			return nil, fmt.Errorf("order %v: %w", order, err)
		}
	}
	return order, nil
}

func (d *driver) newNode(path []*node) *node {
	n := &node{can: d.enabled(), prints: make(map[int]footprint), sleep: make(map[int]bool)}
	for _, i := range n.can {
		n.prints[i] = d.nextFootprint(i)
	}
	if len(path) == 0 {
		return n
	}
	parent := path[len(path)-1]
	chosen := parent.tried[len(parent.tried)-1]
	asleep := maps.Clone(parent.sleep)
	for _, i := range parent.tried[:len(parent.tried)-1] {
		asleep[i] = true
	}
	for i := range asleep {
		if i != chosen && !dependent(parent.prints[i], parent.prints[chosen]) {
			n.sleep[i] = true
		}
	}
	return n
}

// choose takes the next session to try.
func (n *node) choose() (int, bool) {
	for _, i := range n.can {
		if !n.sleep[i] && !slices.Contains(n.tried, i) {
			n.tried = append(n.tried, i)
			return i, true
		}
	}
	return 0, false
}

func (n *node) more() bool {
	return slices.ContainsFunc(n.can, func(i int) bool { return !n.sleep[i] && !slices.Contains(n.tried, i) })
}
