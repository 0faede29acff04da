package serve

import (
	"log/slog"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/config"
)

// Options are the settings of a worker. gw-run fills them from flags, the environment and the config file; whoever does
// it has checked them.
type Options struct {
	// Pool says where the queue is and how many connections there are at most.
	Pool *pgxpool.Config

	// Listen says where the listening connection goes, nil for where the others go.
	Listen *pgx.ConnConfig

	Schema    string // of the queue
	NoMigrate bool   // leave the schema as it is

	Jobs         int // to run at once
	PollInterval time.Duration
	NoListen     bool          // only poll
	Grace        time.Duration // for jobs that run when the worker has to stop
	Once         bool          // work until no job is runnable
	Quiet        bool          // do not log jobs that went well

	HTTP string // the address of /livez, /readyz and /metrics, empty for none

	Tasks   TaskFolder
	Crontab CrontabFile
	Config  ConfigFile
	File    *config.File // what Config says at the start

	// Reload has a value when the files are to be read again, as they are when they change if Watch is set.
	Reload <-chan os.Signal
	Watch  bool

	Logger *slog.Logger
}
