package serve

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/gwsql/gw/internal/console"
)

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
