package worker

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"os"
	"os/signal"
	"slices"

	"github.com/spf13/cobra"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/serve"
	"github.com/gwsql/gw/internal/stop"
	"github.com/gwsql/gw/internal/task"
)

// Run runs a worker until it stops. With --schema-only it only installs or upgrades the schema.
func Run(cmd *cobra.Command, o *Options, stops *stop.Reasons) error {
	o.worker.Logger = newLogger(cmd.ErrOrStderr(), o)
	if path, message := config.PresetIn(o.besideTasks("")); path != "" {
		o.worker.Logger.Warn(message, "path", path)
	}
	ctx, hard, release := stops.Begin(cmd.Context())
	defer release()
	hangups := make(chan os.Signal, 1)
	stop.NotifyHangup(hangups)
	defer signal.Stop(hangups)
	o.worker.Reload = hangups
	if !o.schemaOnly {
		return serve.Run(ctx, hard, o.worker)
	}
	if err := serve.PrepareSchema(ctx, o.worker); err != nil {
		return stop.Explain(ctx, err)
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "Schema %s is up to date.\n", o.Database.Schema)
	return err
}

func newLogger(w io.Writer, o *Options) *slog.Logger {
	handler := &slog.HandlerOptions{Level: o.level}
	if o.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, handler))
	}
	return slog.New(slog.NewTextHandler(w, handler))
}

// TaskNames returns the names of the tasks that the worker has.
func (o *Options) TaskNames() []string {
	names := slices.Collect(maps.Keys(o.worker.File.Tasks))
	if found, err := task.Discover(o.worker.Tasks.Path); err == nil { // the folder need not exist
		names = slices.AppendSeq(names, maps.Keys(found.Tasks))
	}
	return names
}
