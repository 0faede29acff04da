package shim

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gwsql/gw/internal/sqlstate"
)

var (
	// ErrJobNotFound is returned by [Client.Job], [Client.JobByKey] and [Client.Remove] when there is no such job, or not
	// any more: a job that is done leaves nothing behind.
	ErrJobNotFound = errors.New("job not found")

	// ErrNotGranted is matched by the errors of a [Client] in the schema for roles, see [ClientConfig], when what gw-migrate
	// grants has given its role does not go so far.
	ErrNotGranted = errors.New("not granted")

	// ErrEmptyBatch is returned by [Client.AddBatch] for a list without elements: its job would have nothing to do.
	ErrEmptyBatch = errors.New("empty batch")
)

// UnsupportedKeyModeError is returned by [Client.AddMany] for a spec whose key mode only [Client.Add] has. Nothing was
// added.
type UnsupportedKeyModeError struct {
	Spec int // the place of the spec in the list, from 0
	Mode JobKeyMode
}

func (e *UnsupportedKeyModeError) Error() string {
	return fmt.Sprintf("specs[%d] has job key mode %q, which many jobs at once cannot have", e.Spec, string(e.Mode))
}

// explained says more about errors whose text does not say what to do. What errors.As finds stays.
func (c *Client) explained(err error) error {
	state := sqlstate.Of(err)
	if strings.HasSuffix(c.cfg.Schema, rolesSuffix) && slices.Contains([]string{"42501", "42883", "42P01"}, state) {
		return fmt.Errorf("%w to this role by gw-migrate grants: %w", ErrNotGranted, err)
	}
	switch sqlstate.ClassOf(state) {
	case sqlstate.NotFound:
		return fmt.Errorf("%w: is the queue installed in the schema %q, and up to date? gw-migrate does it", err, c.cfg.Schema)
	case sqlstate.NotGranted:
		return fmt.Errorf("%w: only the role that installed the queue may use it", err)
	}
	return err
}
