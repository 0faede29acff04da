package interleave

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// explorer runs a world in every order of steps, but for orders that are equivalent to others: those in which neighbouring
// steps that do not depend on each other have changed places (sleep sets; Godefroid, Partial-Order Methods for the
// Verification of Concurrent Systems).
type explorer struct {
	driver *driver
	world  world
	path   []*node
	whole  bool // no order is left out
}

// errNotTheSame is that a world did not do the same again, as when the server has ended another session in a deadlock.
var errNotTheSame = errors.New("the world is not the same each time")

// mostRuns bounds the runs of a world for each order that is wanted: a run ends without an order where all that could follow
// was seen before.
const mostRuns = 4

// replays bounds how often a path is tried until the world does the same again.
const replays = 20

// explore runs a world in its orders. It calls visit after each. If most is not 0, it ends after so many orders, or mostRuns
// times as many runs.
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
	for k, n := range e.path {
		can, err := e.driver.able(ctx)
		if err != nil {
			return err
		}
		if !slices.Equal(can, n.can) {
			return fmt.Errorf("%w: after %v sessions %v can go on, and before %v", errNotTheSame, e.order()[:k], can, n.can)
		}
		if err := e.take(ctx, k); err != nil {
			return fmt.Errorf("order %v: %w", e.order()[:k+1], err)
		}
	}
	return nil
}

// extend goes on from the end of the path until all sessions are done, or until all that could follow was seen before. Then
// the run is not complete.
func (e *explorer) extend(ctx context.Context) (complete bool, err error) {
	for {
		can, err := e.driver.able(ctx)
		if err != nil {
			return false, err
		}
		if len(can) == 0 {
			return true, nil
		}
		n := newNode(e.path, can)
		if e.whole {
			clear(n.sleep)
		}
		if !n.choose() {
			return false, e.driver.abandon(ctx)
		}
		e.path = append(e.path, n)
		if err := e.take(ctx, len(e.path)-1); err != nil {
			return false, err
		}
	}
}

// take does the step that a node of the path has chosen.
func (e *explorer) take(ctx context.Context, k int) error {
	n := e.path[k]
	did, moved, err := e.driver.step(ctx, n.chosen())
	if err != nil {
		return err
	}
	if len(n.did) < len(n.tried) {
		n.did = append(n.did, deed{did, moved})
	}
	return nil
}
