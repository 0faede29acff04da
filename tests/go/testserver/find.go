package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/gwsql/gw/internal/pgtemp"
)

// serverVariable names the environment variable with the URL of the server, for us and for the command.
const serverVariable = "GW_TEST_DATABASE_URL"

// binariesVariable names the environment variable with the folder of initdb and postgres to start a server from.
const binariesVariable = "GW_TEST_BIN_DIR"

// versionVariable names the environment variable with the major version of a server in Docker, where local ones, of which
// there is no choice, are passed over.
const versionVariable = "GW_TEST_POSTGRES"

// sources returns where a server may come from, in the order of preference.
func sources(getenv func(string) string, log io.Writer) []source {
	version, binDir := getenv(versionVariable), getenv(binariesVariable)
	if version != "" && binDir == "" {
		return []source{dockerServer(version, log)}
	}
	return []source{localServer(binDir, log), dockerServer(cmp.Or(version, dockerVersion), log)}
}

// settings are what tests need of a server that we start: a package at a time on each core, with pools in every test, and
// little memory for the log of what is written, which may be in memory.
func settings() map[string]string {
	return map[string]string{"max_connections": "300", "max_wal_size": "256MB"}
}

// A server is what the command is given.
type server struct {
	url  string
	stop func() error
}

// A source starts a server, or says why it cannot.
type source func(context.Context) (server, error)

// find returns the server that the environment names, else that of the first source that has one.
func find(ctx context.Context, getenv func(string) string, sources ...source) (server, error) {
	if given := getenv(serverVariable); given != "" {
		return server{url: given, stop: func() error { return nil }}, nil
	}
	var missing error
	for _, start := range sources {
		found, err := start(ctx)
		if err == nil {
			return found, nil
		}
		missing = errors.Join(missing, err)
	}
	return server{}, fmt.Errorf("find a PostgreSQL server for the tests: %w\nrun `make deps`, start Docker, or set %s to the URL of a superuser",
		missing, serverVariable)
}

func localServer(binDir string, log io.Writer) source {
	return func(ctx context.Context) (server, error) {
		local, err := pgtemp.Start(ctx, pgtemp.Options{
			BinDir: binDir, LocalOnly: true, Settings: settings(), Dir: pgtemp.InMemory(), Log: log,
		})
		if err != nil {
			return server{}, err
		}
		return server{url: local.URL("postgres"), stop: local.Stop}, nil
	}
}

// settingsList writes the settings as name=value, in a stable order.
func settingsList() (list []string) {
	all := settings()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, name+"="+all[name])
	}
	return list
}
