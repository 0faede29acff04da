package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"

	"github.com/gwsql/gw/pkg/crontab"
)

// crontabFile is where the recurring jobs are.
type crontabFile struct {
	path     string
	optional bool // nobody asked for it, so it need not be there
	log      *slog.Logger
}

// crontab returns where the recurring jobs are: in the file that was given, or else in one beside the folder of tasks.
func (o *options) crontab(log *slog.Logger) crontabFile {
	if o.crontabPath != "" {
		return crontabFile{path: o.crontabPath, log: log}
	}
	return crontabFile{path: besideTasks(o.tasks, "crontab"), optional: true, log: log}
}

// read returns the items of the file, nil if it need not be there and is not.
func (f crontabFile) read() ([]crontab.Source, error) {
	items, err := crontab.Load(f.path)
	if f.optional && errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w; gw-run cron check tells more", err)
	}
	sources := make([]crontab.Source, len(items))
	for i, item := range items {
		sources[i] = item
	}
	return sources, nil
}

// announce logs what was read.
func (f crontabFile) announce(sources []crontab.Source) {
	if sources == nil {
		f.log.Info("no crontab", "path", f.path)
		return
	}
	f.log.Info("crontab read", "path", f.path, "items", len(sources))
}
