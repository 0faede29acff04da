package shim

import (
	"errors"
	"fmt"

	"github.com/gwsql/gw/pkg/crontab"
)

// SetCron replaces the recurring jobs of Config.Cron. Its error tells all that is wrong with the new ones; those before
// stay then. A worker that runs takes the new ones over at once: until then it adds what is due by the old ones, and what
// it missed before that when the database was away. Items that the database knows are backfilled as at the start. If it
// refuses one, for a time zone that it does not know, that is logged and those before stay.
func (w *Worker) SetCron(sources ...crontab.Source) error {
	items, err := collectCron(sources)
	if err != nil {
		return fmt.Errorf("set cron: %w", err)
	}
	w.cronItems.Store(items)
	w.cronChanged.set()
	return nil
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
