package interleave

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// explorer runs a world in every order of steps, except orders that are equivalent to others: those in which
// neighbouring steps that do not depend on each other are exchanged. It takes a step early only if that reverses the
// order of two steps that depend on each other and were done in the other order before (source sets and sleep sets;
// Abdulla et al., Optimal dynamic partial order reduction).
type explorer struct {
	driver *driver
	world  world
	path   []*node
	every  bool // every step is due from where it can be done
	whole  bool // no order is left out
}

// errNotTheSame means that a world did not repeat its steps, for example because the server ended another session in a
// deadlock.
var errNotTheSame = errors.New("the world is not the same each time")

// mostRuns bounds the runs of a world for each order that is wanted: a run may end without an order, where all that
// could follow was seen before.
const mostRuns = 4

// replays bounds how often a path is tried until the world does the same again.
const replays = 20

// explore runs a world in its orders. It calls visit after each. If most is not 0, it ends after so many orders, or
// mostRuns times as many runs.
func (d *driver) explore(ctx context.Context, w world, most int, visit func(order []int) error) error {
	return (&explorer{driver: d, world: w}).run(ctx, most, visit)
}

func (e *explorer) run(ctx context.Context, most int, visit func(order []int) error) error {
	for visited, runs := 0, 0; most == 0 || visited < most && runs < mostRuns*most; runs++ {
		if err := e.replay(ctx); err != nil {
			return err
		}
		complete, err := e.extend(ctx)
		if err != nil {
			return fmt.Errorf("order %v: %w", e.order(), err)
		}
		if complete {
			visited++
			if err := visit(e.order()); err != nil {
				return err
			}
		}
		for len(e.path) > 0 && !e.path[len(e.path)-1].choose() {
			e.path = e.path[:len(e.path)-1]
		}
		if len(e.path) == 0 {
			return nil
		}
	}
	return nil
}

// order returns the session of each step.
func (e *explorer) order() (order []int) {
	for _, n := range e.path {
		order = append(order, n.chosen())
	}
	return order
}

// replay begins the world, and takes the path's last choices again.
func (e *explorer) replay(ctx context.Context) (err error) {
	for range replays {
		if err = e.replayOnce(ctx); !errors.Is(err, errNotTheSame) {
			return err
		}
		if err := e.driver.abandon(ctx); err != nil {
			return err
		}
	}
	return err
}

func (e *explorer) replayOnce(ctx context.Context) error {
	if err := e.driver.begin(ctx, e.world); err != nil {
		return err
	}
	known := len(e.path) - 1 // the last step of the path is new
	for k := 0; k <= known; {
		n := e.path[k]
		can, err := e.driver.able(ctx)
		if err != nil {
			return err
		}
		if !slices.Equal(can, n.can) {
			return fmt.Errorf("%w: after %v sessions %v can go on, and before %v", errNotTheSame, e.order()[:k], can,
				n.can)
		}
		if k == known {
			if err := e.driver.settleBlocked(ctx); err != nil { // for whom they wait now
				return err
			}
			return e.take(ctx, n)
		}
		deeds := e.leap(k)
		if err := e.driver.stepAgain(ctx, n.chosen(), deeds); err != nil {
			return fmt.Errorf("order %v: %w", e.order()[:k+1], err)
		}
		k += len(deeds)
	}
	return nil
}

// leap returns the steps of the path from k on that a session can do again at once.
func (e *explorer) leap(k int) (deeds []deed) {
	for _, n := range e.path[k : len(e.path)-1] {
		if n.chosen() != e.path[k].chosen() {
			break
		}
		deeds = append(deeds, n.last())
		if len(n.last().moved) > 1 || !n.last().atStop {
			break
		}
	}
	return deeds
}

// extend continues from the end of the path until all sessions are done, or until every possible continuation was seen
// before; in the latter case the run is not complete.
func (e *explorer) extend(ctx context.Context) (complete bool, err error) {
	for {
		if len(e.driver.enabled()) == 0 && !e.driver.over() { // races with what a deadlock moves are not found
			e.every = true
			for _, n := range e.path {
				n.due = n.can
			}
		}
		can, err := e.driver.able(ctx)
		if err != nil {
			return false, err
		}
		if len(can) == 0 {
			return true, nil
		}
		n := newNode(e.path, can)
		if e.every || e.whole {
			n.due = can
		}
		if e.whole {
			clear(n.sleep)
		}
		if !n.choose() {
			return false, e.driver.abandon(ctx)
		}
		e.path = append(e.path, n)
		if err := e.take(ctx, n); err != nil {
			return false, err
		}
	}
}

// take does the step that the last node of the path has chosen, for the first time.
func (e *explorer) take(ctx context.Context, n *node) error {
	did, err := e.driver.step(ctx, n.chosen())
	if err != nil {
		return err
	}
	n.did = append(n.did, did)
	findRaces(e.path)
	return nil
}
