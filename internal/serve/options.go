package serve

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/console"
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
