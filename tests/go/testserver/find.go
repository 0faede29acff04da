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

// serverVariable is the environment variable with the URL of the server, for this program and for the command.
const serverVariable = "GW_TEST_DATABASE_URL"

// binariesVariable is the environment variable with the folder of initdb and postgres for the server.
const binariesVariable = "GW_TEST_BIN_DIR"

// versionVariable is the environment variable with the major version of a server in Docker. If it is set, local binaries, whose
// version cannot be chosen, are not used.
const versionVariable = "GW_TEST_POSTGRES"

// sources returns the sources of a server, in the order of preference.
func sources(getenv func(string) string, log io.Writer) []source {
	version, binDir := getenv(versionVariable), getenv(binariesVariable)
	if version != "" && binDir == "" {
		return []source{dockerServer(version, log)}
	}
	return []source{localServer(binDir, log), dockerServer(cmp.Or(version, dockerVersion), log)}
}

// settings returns the settings of a server that this program starts. Several packages are tested at once, each test with pools of
// its own, and the WAL is kept small because it may be in memory.
func settings() map[string]string {
	return map[string]string{"max_connections": "300", "max_wal_size": "256MB"}
}

// A server is the server for the command.
type server struct {
	url  string
	stop func() error
}

// A source starts a server, or returns the reason why it cannot.
type source func(context.Context) (server, error)

// find returns the server of the environment, otherwise the server of the first source that has one.
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

// settingsList returns the settings as name=value, in a stable order.
func settingsList() (list []string) {
	all := settings()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, name+"="+all[name])
	}
	return list
}
