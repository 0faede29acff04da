package main

import (
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/spf13/pflag"

	"github.com/gwsql/gw/internal/config"
	"github.com/gwsql/gw/internal/connection"
)

// takeShards finds the shards to work: those of --shards, otherwise those of the config file.
func (o *options) takeShards(flags *pflag.FlagSet, getenv func(string) string) (err error) {
	o.worker.Shards = o.worker.File.Shards
	if o.shardsPath != "" {
		if flags.Changed("connection") {
			return usageError{errors.New("--shards and --connection exclude each other: the file has the connection of each shard")}
		}
		if o.worker.Shards, err = config.LoadShards(o.shardsPath, getenv); err != nil {
			return err
		}
	}
	if o.worker.Shards == nil {
		if o.home != "" {
			return usageError{errors.New("--home needs --shards, or shards in the config file")}
		}
		return nil
	}
	if flags.Changed("connection") { // as for any other setting, the flag takes precedence over the file
		o.worker.Shards = nil
		return nil
	}
	switch _, known := o.worker.Shards.Find(o.home); {
	case o.home == "":
	case o.home == "auto":
		o.worker.Shards.Home = ""
	case !known:
		return usageError{fmt.Errorf("there is no shard %s; --home takes auto or one of %v", o.home, o.worker.Shards.Names())}
	default:
		o.worker.Shards.Home = o.home
	}
	return nil
}

// connectShard returns the settings of the pool of a shard.
func (o *options) connectShard(text string) (*pgxpool.Config, error) {
	text, err := connection.Find(text, "connection", func(string) string { return "" })
	if err != nil {
		return nil, err
	}
	of := database{connection: text}
	pool, err := of.pool()
	if err != nil {
		return nil, err
	}
	pool.MaxConns = int32(o.poolSize)
	if o.noPrepare {
		pool.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
	return pool, nil
}
