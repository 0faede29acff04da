package shim

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gwsql/gw/internal/sqlstate"
)

// The errors of a [Client].
var (
	// ErrJobNotFound is returned by [Client.Job], [Client.JobByKey] and [Client.Remove] if there is no such job. A
	// completed job has no row.
	ErrJobNotFound = errors.New("job not found")

	// ErrNotGranted is matched by the errors of a [Client] in the schema for roles (see [ClientConfig]) for calls that
	// gw-migrate grants has not granted to its role.
	ErrNotGranted = errors.New("not granted")

	// ErrEmptyBatch is returned by [Client.AddBatch] for an empty list, because its job would have nothing to do.
	ErrEmptyBatch = errors.New("empty batch")
)

// UnsupportedKeyModeError is returned by [Client.AddMany] for a spec with a key mode that only [Client.Add] supports.
// Nothing was added.
type UnsupportedKeyModeError struct {
	Spec int // the index of the spec in the list, from 0
	Mode JobKeyMode
}

func (e *UnsupportedKeyModeError) Error() string {
	return fmt.Sprintf("specs[%d] has job key mode %q, which AddMany does not support", e.Spec, string(e.Mode))
}

// explained adds a remedy to errors whose text has none. [errors.As] still finds the original error.
func (c *Client) explained(err error) error {
	state := sqlstate.Of(err)
	if strings.HasSuffix(c.cfg.Schema, rolesSuffix) && slices.Contains([]string{"42501", "42883", "42P01"}, state) {
		return fmt.Errorf("%w to this role by gw-migrate grants: %w", ErrNotGranted, err)
	}
	switch sqlstate.ClassOf(state) {
	case sqlstate.NotFound:
		return fmt.Errorf("%w: is the queue installed in the schema %q, and up to date? gw-migrate installs and upgrades it",
			err, c.cfg.Schema)
	case sqlstate.NotGranted:
		return fmt.Errorf("%w: only the role that installed the queue may use it", err)
	}
	return err
}
