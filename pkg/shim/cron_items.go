package shim

import (
	"errors"
	"time"

	"github.com/gwsql/gw/pkg/crontab"
)

// cronItems are a worker's items. They are replaced, never changed.
type cronItems struct{ list []crontab.Item }

// cronClock is the time of a tick, and how to wait for the next one: nil means the database's clock and [time.After].
// Tests use others.
type cronClock struct {
	now   func() *time.Time
	after func(time.Duration) <-chan time.Time
}

func collectCron(sources []crontab.Source) (*cronItems, error) {
	for _, source := range sources {
		if source == nil {
			return nil, errors.New("a source of recurring jobs is nil")
		}
	}
	list, err := crontab.Collect(sources...)
	if err != nil {
		return nil, err
	}
	return &cronItems{list: list}, nil
}
