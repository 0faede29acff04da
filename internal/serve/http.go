package serve

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gwsql/gw/internal/build"
	"github.com/gwsql/gw/internal/console"
	"github.com/gwsql/gw/internal/health"
	"github.com/gwsql/gw/pkg/gwprom"
	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/pkg/shim"
)

// web is the HTTP server of --http.
type web struct {
	server   *health.Server
	monitor  *health.Monitor
	registry *prometheus.Registry
}

// startHTTP starts the server, which first reports that the worker is starting. Without --http it returns nil.
func startHTTP(o *Options, pool *pgxpool.Pool) (*web, error) {
	if o.HTTP == "" {
		return nil, nil
	}
	w := &web{monitor: health.NewMonitor(!o.NoListen && !o.Once)}
	var err error
	if w.registry, err = newRegistry(); err != nil {
		return nil, err
	}
	w.server, err = health.Serve(o.HTTP, health.Config{
		Monitor: w.monitor,
		Ping:    pool.Ping,
		Metrics: promhttp.HandlerFor(w.registry, promhttp.HandlerOpts{Registry: w.registry}),
		Logger:  o.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("--http %s: %w", o.HTTP, err)
	}
	o.Logger.Info("serving HTTP", "address", w.server.Address())
	return w, nil
}

// watch connects the server to a worker, before the worker runs.
func (w *web) watch(worker *shim.Worker, log *slog.Logger) error {
	if w == nil {
		return nil
	}
	metrics, err := gwprom.New(w.registry)
	if err != nil {
		return err
	}
	metrics.Watch(worker)
	w.monitor.Watch(worker)
	return w.registry.Register(gwprom.NewQueueCollector(worker.Client(), gwprom.QueueConfig{Logger: log}))
}

func (w *web) close() {
	if w != nil {
		w.server.Close()
	}
}

// newRegistry returns metrics of the program and its process.
func newRegistry() (*prometheus.Registry, error) {
	version, err := migrate.Available()
	if err != nil {
		return nil, err
	}
	built := build.Read()
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "gw_build_info",
		Help: "1, with the program's build information and the version of the schema that it installs.",
		ConstLabels: prometheus.Labels{
			"version": built.Version, "revision": built.Revision, "go_version": built.Go,
			"schema_version": strconv.Itoa(int(version)),
		},
	})
	info.Set(1)
	registry := prometheus.NewRegistry()
	registry.MustRegister(info, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return registry, nil
}

// startUI serves the console beside the worker, by connections of its own. It returns what ends it.
func startUI(ctx context.Context, o *Options) (end func(), err error) {
	if o.UI == nil {
		return func() {}, nil
	}
	config := o.Pool.Copy()
	config.MaxConns = console.Connections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open connection pool: %w", err)
	}
	settings := *o.UI
	settings.Logger = o.Logger
	server, err := console.Serve(pool, settings)
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("--ui %s: %w", o.UI.Address, err)
	}
	o.Logger.Info("serving the console", "url", server.URL())
	return func() {
		server.Close()
		pool.Close()
	}, nil
}
