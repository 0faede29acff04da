package shim

import (
	"errors"
	"fmt"

	"github.com/gwsql/gw/pkg/crontab"
)

// SetCron replaces the recurring jobs of Config.Cron. Its error lists all problems of the new ones; in that case the
// previous ones stay. A running worker uses the new ones at once. Before that it adds the jobs due by the previous
// ones, including those missed while the database was unavailable. Items that the database has are backfilled as at the
// start. If the database refuses an item, for example because of an unknown time zone, the worker logs that and keeps
// the previous ones.
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
