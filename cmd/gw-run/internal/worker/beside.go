package worker

import (
	"log/slog"
	"os"
	"path/filepath"

	"github.com/gwsql/gw/cmd/gw-run/internal/cli"
	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/serve"
)

// ServedBeside returns the tasks that a worker would serve whose folder of tasks and config file are beside the crontab. It
// returns nil if neither exists or they cannot be read.
func ServedBeside(crontab string, getenv func(string) string) map[string]config.Task {
	o := NewOptions()
	o.offline = true
	flags := newFlags(o, getenv)
	for flag, name := range map[string]string{"tasks": "tasks", "config": "gw.yaml"} {
		path := filepath.Join(filepath.Dir(crontab), name)
		if _, err := os.Stat(path); err == nil {
			cli.Must(flags.Set(flag, path))
		}
	}
	if flags.NFlag() == 0 || o.Complete(flags, getenv) != nil {
		return nil
	}
	o.worker.Logger, o.worker.Crontab = slog.New(slog.DiscardHandler), serve.CrontabFile{Optional: true}
	found, err := serve.Check(o.worker)
	if err != nil {
		return nil
	}
	return found.Tasks
}
