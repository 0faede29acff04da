package pgtemp

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"

	embeddedpostgres "github.com/fergusstrange/embedded-postgres"
)

// fetchedVersion is the server that is downloaded.
const fetchedVersion = embeddedpostgres.V17

func startFetched(ctx context.Context, o Options) (*Server, error) {
	if os.Geteuid() == 0 {
		return nil, unavailable("not done as root; run as another user, or install PostgreSQL")
	}
	cache := o.CacheDir
	if cache == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return nil, fmt.Errorf("find the cache folder: %w", err)
		}
		cache = filepath.Join(user, "gw")
	}
	home := filepath.Join(cache, "postgresql-"+string(fetchedVersion))
	binDir := filepath.Join(home, "bin")
	if checkBinaries(binDir) == nil {
		fmt.Fprintf(o.Log, "PostgreSQL: a private server from %s\n", binDir)
		return startCluster(ctx, binDir, o)
	}
	fmt.Fprintf(o.Log, "PostgreSQL: none found here, so version %s is downloaded once into %s\n", fetchedVersion, home)
	if err := fetch(ctx, cache, home, o.BinaryRepositoryURL); err != nil {
		return nil, fmt.Errorf("download PostgreSQL %s: %w", fetchedVersion, err)
	}
	return startCluster(ctx, binDir, o)
}

// fetch puts the server's binaries into home, whole or not at all, so that starters do not disturb each other.
func fetch(ctx context.Context, cache, home, repository string) error {
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return err
	}
	scratch, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	dog, err := startWatchdog(`rm -rf "$1"`, scratch)
	if err != nil {
		return err
	}
	// The library takes no context. What it does after we have given up ends in the folder that we remove.
	done := make(chan error, 1)
	go func() { done <- fetchInto(scratch, repository) }()
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err == nil {
		err = os.Rename(filepath.Join(scratch, "home"), home)
		if err != nil && checkBinaries(filepath.Join(home, "bin")) == nil {
			err = nil // another process was quicker
		}
	}
	return errors.Join(err, os.RemoveAll(scratch), dog.dismiss())
}

// fetchInto downloads and unpacks the binaries into the folder home of dir. The library does so only on the way to a
// running server, which is stopped at once: ours needs no port.
func fetchInto(dir, repository string) error {
	port, err := freePort()
	if err != nil {
		return err
	}
	config := embeddedpostgres.DefaultConfig().
		Version(fetchedVersion).
		Port(port).
		Password(rand.Text()).
		CachePath(filepath.Join(dir, "archive")).
		RuntimePath(filepath.Join(dir, "run")).
		BinariesPath(filepath.Join(dir, "home")).
		Logger(io.Discard)
	if repository != "" {
		config = config.BinaryRepositoryURL(repository)
	}
	server := embeddedpostgres.NewDatabase(config)
	if err := server.Start(); err != nil {
		return err
	}
	return server.Stop()
}

func freePort() (uint32, error) {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer listener.Close()
	return uint32(listener.Addr().(*net.TCPAddr).Port), nil
}
