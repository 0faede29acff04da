package serve

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/console"
	"github.com/gwsql/gw/pkg/crontab"
)

// Options are the settings of a worker. gw-run fills them from flags, the environment and the config file; the caller
// has validated them.
type Options struct {
	// Pool is the database of the queue and the maximum number of connections.
	Pool *pgxpool.Config

	// Listen is the address of the listening connection, nil for that of the pool.
	Listen *pgx.ConnConfig

	Schema    string // of the queue
	NoMigrate bool   // leave the schema as it is

	Jobs         int // to run at once
	PollInterval time.Duration
	NoListen     bool          // only poll
	Grace        time.Duration // for running jobs when the worker has to stop
	Once         bool          // work until no job is runnable
	Quiet        bool          // do not log completed jobs

	HTTP string           // the address of /livez, /readyz and /metrics, empty for none
	UI   *console.Options // the console, nil for none

	Tasks   TaskFolder
	Crontab CrontabFile
	Config  ConfigFile
	File    *config.File // the content of Config at the start

	// Reload receives a value when the files must be read again. If Watch is set, they are also read after each change.
	Reload <-chan os.Signal
	Watch  bool

	Logger *slog.Logger
}

// ConfigFile is the location of the config file.
type ConfigFile struct {
	Path     string
	Optional bool // not requested, so it need not exist
	Getenv   func(string) string
}

// Read returns the content of the file, or nothing if it is optional and does not exist.
func (f ConfigFile) Read() (*config.File, error) {
	file, err := config.Load(f.Path, f.Getenv)
	if f.Optional && errors.Is(err, fs.ErrNotExist) {
		return &config.File{Path: f.Path}, nil
	}
	return file, err
}

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
