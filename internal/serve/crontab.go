package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/gwsql/gw/pkg/crontab"
)

// CrontabFile is the location of the crontab.
type CrontabFile struct {
	Path     string
	Optional bool // not requested, so it need not exist
}

// read returns the items of the file, nil if it is optional and does not exist.
func (f CrontabFile) read() ([]crontab.Source, error) {
	items, err := crontab.Load(f.Path)
	if f.Optional && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w; gw-run cron check shows details", err)
	}
	sources := make([]crontab.Source, len(items))
	for i, item := range items {
		sources[i] = item
	}
	return sources, nil
}

// announce logs the path and the number of items, and a warning for each recurring job whose task this worker does not
// have. Another worker may have it.
func (f CrontabFile) announce(log *slog.Logger, sources []crontab.Source, services map[string]*service) {
	if sources == nil {
		log.Info("no crontab", "path", f.Path)
		return
	}
	log.Info("crontab read", "path", f.Path, "items", len(sources))
	for _, source := range sources {
		item, ok := source.(crontab.Item)
		if !ok {
			continue
		}
		if _, served := services[item.Task]; !served {
			log.Warn("a recurring job has a task that this worker does not serve: its jobs wait for another worker",
				"task_identifier", item.Task, "identifier", item.Identifier, "at",
				fmt.Sprintf("%s:%d", f.Path, item.Line))
		}
	}
}
