package interleave

import (
	"context"
	"fmt"
	"maps"
	"slices"
)

// node is a state of a world from which one session or another can do the next step.
type node struct {
	can   []int
	sleep map[int]footprint // steps from here that lead to orders that are equivalent to ones already seen, by session
	tried []int             // the sessions whose step was taken from here; the last is that of the run
	did   []footprint       // what these steps have done
}

// explore runs a world in every order of steps, but for orders that are equivalent to others: those in which neighbouring
// steps that do not depend on each other have changed places (sleep sets, as Godefroid has them). It calls visit after each,
// and ends after most orders, if that is not 0.
func (d *driver) explore(ctx context.Context, w world, most int, visit func(order []int) error) error {
	var path []*node
	for visited := 0; most == 0 || visited < most; {
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
			i, ok := n.choose()
			if !ok {
				complete = false
				if err := d.finish(ctx); err != nil {
					return err
				}
				break
			}
			path = append(path, n)
			order = append(order, i)
			if err := d.take(ctx, n, i); err != nil {
				return fmt.Errorf("order %v: %w", order, err)
			}
		}
		if complete {
			visited++
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
	return nil
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
		if err := d.take(ctx, n, i); err != nil {
			return nil, fmt.Errorf("order %v: %w", order, err)
		}
	}
	return order, nil
}

// take does the step that a node has chosen.
func (d *driver) take(ctx context.Context, n *node, i int) error {
	did, err := d.step(ctx, i)
	if len(n.did) < len(n.tried) {
		n.did = append(n.did, did)
	}
	return err
}

// newNode returns the node that the last step of a path has led to. Whatever was tried before that step, or slept, and does
// not depend on it, sleeps on: to take it now leads where it led to when it was taken first.
func (d *driver) newNode(path []*node) *node {
	n := &node{can: d.enabled(), sleep: make(map[int]footprint)}
	if len(path) == 0 {
		return n
	}
	parent := path[len(path)-1]
	last := len(parent.tried) - 1
	asleep := maps.Clone(parent.sleep)
	for k, i := range parent.tried[:last] {
		asleep[i] = parent.did[k]
	}
	for i, print := range asleep {
		if !dependent(print, parent.did[last]) {
			n.sleep[i] = print
		}
	}
	return n
}

// choose takes the next session to try.
func (n *node) choose() (int, bool) {
	for _, i := range n.can {
		if n.isOpen(i) {
			n.tried = append(n.tried, i)
			return i, true
		}
	}
	return 0, false
}

func (n *node) more() bool {
	return slices.ContainsFunc(n.can, n.isOpen)
}

func (n *node) isOpen(i int) bool {
	_, sleeps := n.sleep[i]
	return !sleeps && !slices.Contains(n.tried, i)
}
