package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/gwsql/gw/pkg/crontab"
	"github.com/gwsql/gw/pkg/shim"
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
	return crontabFile{path: filepath.Join(filepath.Dir(filepath.Clean(o.tasks)), "crontab"), optional: true, log: log}
}

// read returns the items of the file.
func (f crontabFile) read() ([]crontab.Source, error) {
	items, err := crontab.Load(f.path)
	if f.optional && errors.Is(err, fs.ErrNotExist) {
		f.log.Info("no crontab", "path", f.path)
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w; gw-run cron check tells more", err)
	}
	f.log.Info("crontab read", "path", f.path, "items", len(items))
	sources := make([]crontab.Source, len(items))
	for i, item := range items {
		sources[i] = item
	}
	return sources, nil
}

// readAgain gives the worker the items of the file at each hangup, until that is closed. While the file is wrong the
// worker keeps what it has.
func (f crontabFile) readAgain(hangups <-chan os.Signal, worker *shim.Worker) {
	for range hangups {
		sources, err := f.read()
		if err == nil {
			err = worker.SetCron(sources...)
		}
		if err != nil {
			f.log.Error("cannot use the crontab, keeps the one before", "path", f.path, "error", err)
		}
	}
}
