// Package worker has the settings of a worker, from flags, the environment and the config file, and runs it.
package worker

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/spf13/pflag"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/connection"
	"github.com/gwsql/gw/internal/console"
	"github.com/gwsql/gw/internal/serve"
)

// Options are the values of flags, the environment and the config file.
type Options struct {
	worker     serve.Options
	Database   cli.Database
	schemaOnly bool
	Cleanup    []string
	noPrepare  bool
	poolSize   int
	listen     string
	crontab    string
	logFormat  string
	logLevel   string
	configPath string
	ui         string
	console    console.Options // its name and links
	offline    bool            // the command needs no database

	// After Complete:
	level    slog.Level // logLevel
	fromFile fileSettings
}

// NewOptions returns the options without flags.
func NewOptions() *Options { return &Options{worker: serve.Options{PollInterval: 2 * time.Second}} }

// newFlags returns the flags of a worker.
func newFlags(o *Options, getenv func(string) string) *pflag.FlagSet {
	flags := pflag.NewFlagSet("gw-run", pflag.ContinueOnError)
	o.AddFlags(flags, getenv)
	return flags
}

// AddFlags adds the flags of a worker to those of a command.
func (o *Options) AddFlags(flags *pflag.FlagSet, getenv func(string) string) {
	o.Database.AddFlags(flags, getenv)
	flags.StringVar(&o.configPath, "config", "", "`file` of settings and tasks (default: gw.yaml beside the folder of tasks, if it is there)")
	flags.BoolVarP(&o.worker.Watch, "watch", "w", false, "reload changed tasks, config and crontab without a restart")
	flags.BoolVar(&o.schemaOnly, "schema-only", false, "install or upgrade the schema, then exit")
	flags.BoolVar(&o.worker.Once, "once", false, "run jobs until none is runnable, then exit")
	flags.StringSliceVar(&o.Cleanup, "cleanup", nil, "clean up, then exit: comma-separated `tasks` of gw-run cleanup")
	flags.IntVarP(&o.worker.Jobs, "jobs", "j", 1, "`number` of jobs to run at once")
	flags.IntVarP(&o.poolSize, "max-pool-size", "m", 10, "maximum `number` of database connections, not counting the listening one")
	flags.Var((*pollInterval)(&o.worker.PollInterval), "poll-interval", "maximum interval between two searches for jobs, in milliseconds or as a `time` like 2s")
	flags.BoolVar(&o.noPrepare, "no-prepared-statements", false, "do not use prepared statements, for poolers that do not support them")
	flags.StringVar(&o.listen, "listen-url", "", "`database` to listen on for new jobs: the server's own address, if --connection goes through a pooler")
	flags.BoolVar(&o.worker.NoListen, "no-listen", false, "do not listen for new jobs, only poll")
	flags.StringVar(&o.worker.Tasks.Path, "tasks", "./tasks", "`folder` of the executables and modules that serve the tasks")
	flags.StringVar(&o.crontab, "crontab", "", "`file` of recurring jobs (default: crontab beside the folder of tasks, if it is there)")
	flags.DurationVar(&o.worker.Grace, "grace", 30*time.Second, "`time` that running jobs have to finish after a stop signal")
	flags.BoolVar(&o.worker.NoMigrate, "no-migrate", false, "do not install or upgrade the schema")
	flags.StringVar(&o.worker.HTTP, "http", "", "serve /livez, /readyz and /metrics at this `address`, such as :9464 or 127.0.0.1:9464")
	flags.StringVar(&o.ui, "ui", "", "serve the console, see gw-run ui, at this loopback `address` (--ui alone: "+console.DefaultAddress+")")
	flags.Lookup("ui").NoOptDefVal = console.DefaultAddress
	o.console.AddNames(flags, "ui-")
	flags.StringVar(&o.logFormat, "log-format", "text", "text or json")
	flags.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	flags.BoolVar(&o.worker.Quiet, "quiet", false, "do not log completed jobs")
	flags.SortFlags = false
}

// Complete applies the environment and the config file where no flag is given, and returns all problems: as an error in the command line,
// unless one of them is in the file.
func (o *Options) Complete(flags *pflag.FlagSet, getenv func(string) string) (err error) {
	o.worker.Config = o.findConfig(getenv)
	if o.worker.File, err = o.worker.Config.Read(); err != nil {
		return err
	}
	given := o.takeEnvironment(flags, getenv)
	o.fromFile, err = takeFile(o.worker.File.Settings, flags, given)
	_, hasTasks := o.fromFile["tasks"]
	o.worker.Tasks.Optional = !hasTasks && !flags.Changed("tasks")
	err = errors.Join(err, o.check(getenv))
	if err == nil {
		o.worker.Schema, o.worker.Crontab = o.Database.Schema, o.findCrontab()
		return o.connections()
	}
	if _, inFile := errors.AsType[config.Problem](err); inFile {
		return err
	}
	return cli.AsUsage(err)
}

// findConfig returns the config file: the one that was given, otherwise gw.yaml beside the folder of tasks.
func (o *Options) findConfig(getenv func(string) string) serve.ConfigFile {
	if o.configPath != "" {
		return serve.ConfigFile{Path: o.configPath, Getenv: getenv}
	}
	return serve.ConfigFile{Path: o.besideTasks("gw.yaml"), Optional: true, Getenv: getenv}
}

// findCrontab returns the crontab file: the one that was given, otherwise the file crontab beside the folder of tasks.
func (o *Options) findCrontab() serve.CrontabFile {
	if o.crontab != "" {
		return serve.CrontabFile{Path: o.crontab}
	}
	return serve.CrontabFile{Path: o.besideTasks("crontab"), Optional: true}
}

// besideTasks returns the path of a file beside the folder of tasks.
func (o *Options) besideTasks(name string) string {
	return filepath.Join(filepath.Dir(filepath.Clean(o.worker.Tasks.Path)), name)
}

// takeEnvironment applies the environment where no flag is given. It returns a function that reports whether a setting is
// given by a flag or by the environment.
func (o *Options) takeEnvironment(flags *pflag.FlagSet, getenv func(string) string) (given func(flag string) bool) {
	isSet := map[string]bool{
		"connection": getenv("DATABASE_URL") != "",
		"schema":     getenv("GRAPHILE_WORKER_SCHEMA") != "",
	}
	if getenv("NO_LOG_SUCCESS") != "" && !flags.Changed("quiet") {
		o.worker.Quiet, isSet["quiet"] = true, true
	}
	if getenv("GRAPHILE_LOGGER_DEBUG") == "1" && !flags.Changed("log-level") {
		o.logLevel, isSet["log-level"] = "debug", true
	}
	return func(flag string) bool { return flags.Changed(flag) || isSet[flag] }
}

// check returns all problems of the options.
func (o *Options) check(getenv func(string) string) error {
	var problems []error
	refuse := func(flag, format string, args ...any) {
		problems = append(problems, o.fromFile.wrong(flag, fmt.Sprintf(format, args...)))
	}
	o.checkExclusions(refuse)
	if o.worker.Jobs < 1 {
		refuse("jobs", "is %d, must be at least 1", o.worker.Jobs)
	}
	if o.worker.Jobs > config.Most {
		refuse("jobs", "is %d, must be at most %d", o.worker.Jobs, config.Most)
	}
	if o.poolSize > config.Most {
		refuse("max-pool-size", "is %d, must be at most %d", o.poolSize, config.Most)
	}
	if o.poolSize < 2 {
		refuse("max-pool-size", "is %s, must be at least 2", o.fromFile.shown("max-pool-size", strconv.Itoa(o.poolSize)))
	}
	if o.worker.HTTP != "" && !strings.Contains(o.worker.HTTP, ":") {
		refuse("http", "is %q, which has no port; write :9464 or 127.0.0.1:9464", o.fromFile.shown("http", o.worker.HTTP))
	}
	if o.ui != "" {
		o.console.Address, o.console.Schema = o.ui, o.Database.Schema
		o.worker.UI = &o.console
		if err := o.console.CheckLoopback(); err != nil {
			refuse("ui", "is %q: %v", o.ui, err)
		}
	}
	if o.worker.Grace < 0 {
		refuse("grace", "is %s, must not be negative", o.worker.Grace)
	}
	if o.worker.Grace > config.LongestTime {
		refuse("grace", "is %s, must be at most %.0fh", o.worker.Grace, config.LongestTime.Hours())
	}
	if o.logFormat != "text" && o.logFormat != "json" {
		refuse("log-format", "is %q, must be text or json", o.fromFile.shown("log-format", o.logFormat))
	}
	if err := o.level.UnmarshalText([]byte(o.logLevel)); err != nil {
		refuse("log-level", "is %q, must be debug, info, warn or error", o.fromFile.shown("log-level", o.logLevel))
	}
	if o.Database.Schema == "" {
		refuse("schema", "is empty")
	}
	var err error
	o.Database.Connection, err = o.fromFile.connectionFrom("connection", o.Database.Connection, getenv)
	if !o.offline || !errors.Is(err, connection.ErrNone) {
		problems = append(problems, err)
	}
	if o.listen != "" {
		o.listen, err = o.fromFile.connectionFrom("listen-url", o.listen, getenv)
		problems = append(problems, err)
	}
	return errors.Join(problems...)
}

// checkExclusions refuses options that exclude each other.
func (o *Options) checkExclusions(refuse func(flag, format string, args ...any)) {
	if o.schemaOnly && o.worker.Once {
		refuse("schema-only", "and --once exclude each other")
	}
	if o.worker.Watch && o.worker.Once {
		refuse("watch", "and --once exclude each other")
	}
	if o.schemaOnly && o.worker.NoMigrate {
		refuse("no-migrate", "and --schema-only exclude each other")
	}
	if o.worker.NoListen && o.listen != "" {
		refuse("no-listen", "and %s exclude each other", o.fromFile.name("listen-url"))
	}
}

// connections sets the connection configs of the worker.
func (o *Options) connections() (err error) {
	if o.worker.Pool, err = o.Database.Pool(); err != nil {
		return err
	}
	o.worker.Pool.MaxConns = int32(o.poolSize)
	if o.noPrepare {
		o.worker.Pool.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	if o.listen == "" {
		return nil
	}
	past := cli.Database{Connection: o.listen}
	pool, err := past.Pool()
	if err != nil {
		return err
	}
	o.worker.Listen = pool.ConnConfig
	return nil
}

// pollInterval is the value of a flag: a time, or a bare number of milliseconds as in Graphile Worker.
type pollInterval time.Duration

func (p *pollInterval) Type() string   { return "time" }
func (p *pollInterval) String() string { return time.Duration(*p).String() }

func (p *pollInterval) Set(text string) error {
	interval, err := time.ParseDuration(text)
	if milliseconds, numberErr := strconv.ParseInt(text, 10, 32); numberErr == nil {
		interval, err = time.Duration(milliseconds)*time.Millisecond, nil
	}
	if err != nil || interval <= 0 || interval > config.LongestTime {
		return errors.New("must be a positive number of milliseconds, or a time like 2s, at most 100 years")
	}
	*p = pollInterval(interval)
	return nil
}
