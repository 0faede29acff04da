package interleave

import "context"

// A judge tells what is wrong with the outcomes of a world.
type judge interface {
	// prepare learns about a world, before its sessions run at once.
	prepare(ctx context.Context, d *driver, w world) error

	// fault says what is wrong with the outcome of a run that has just ended, or returns an empty string.
	fault(ctx context.Context, d *driver, w world, o outcome) (string, error)
}
