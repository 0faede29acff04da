package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	// fetchedVersion is the version of the server that is downloaded, in the numbering of zonky.io's archives.
	fetchedVersion = "17.5.0"
	// rootCache is root's cache of downloaded binaries. The server's user cannot read root's home.
	rootCache = "/var/cache/gw"
)

// startFetched starts a server from downloaded binaries, and downloads them if they are not in the cache. As with local
// binaries, root runs them as another user.
func startFetched(ctx context.Context, o Options) (*Server, error) {
	cache, err := o.cache()
	if err != nil {
		return nil, unavailable(err.Error())
	}
	home := filepath.Join(cache, "postgresql-"+fetchedVersion)
	binDir := filepath.Join(home, "bin")
	if checkBinaries(binDir) == nil {
		fmt.Fprintf(o.Log, "PostgreSQL: a private server from %s\n", binDir)
		return startCluster(ctx, binDir, o)
	}
	d, err := newDownload(o)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(o.Log, "PostgreSQL: no server found on this machine; version %s is downloaded once from %s into %s\n",
		fetchedVersion, d.mirror.Redacted(), home)
	if err := fetch(ctx, cache, home, d); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, unavailable(err.Error())
	}
	return startCluster(ctx, binDir, o)
}

// cache returns the folder for downloaded binaries.
func (o Options) cache() (string, error) {
	if o.CacheDir != "" {
		return o.CacheDir, nil
	}
	if os.Geteuid() == 0 {
		return rootCache, nil
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find the cache folder: %w", err)
	}
	return filepath.Join(user, "gw"), nil
}

// fetch downloads the server's binaries into home. It moves them there at once when they are complete, so that
// concurrent starts do not interfere.
func fetch(ctx context.Context, cache, home string, d *download) error {
	if err := makeCache(cache); err != nil {
		return fmt.Errorf("make the cache folder: %w", err)
	}
	scratch, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return fmt.Errorf("make a folder for the download: %w", err)
	}
	defer os.RemoveAll(scratch)
	watchdog, err := startWatchdog(`rm -rf "$1"`, scratch)
	if err != nil {
		return err
	}
	err = fetchInto(ctx, scratch, d)
	if err == nil {
		err = os.Rename(filepath.Join(scratch, "home"), home)
		if err != nil && checkBinaries(filepath.Join(home, "bin")) == nil {
			err = nil // another process was faster
		}
	}
	return errors.Join(err, os.RemoveAll(scratch), watchdog.dismiss())
}

// makeCache creates the folder for downloaded binaries. The server's user can read root's, whatever the umask.
func makeCache(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return nil
	}
	return os.Chmod(dir, 0o755)
}

// fetchInto downloads the binaries and unpacks them into the folder home of dir.
func fetchInto(ctx context.Context, dir string, d *download) error {
	archive := filepath.Join(dir, "archive.jar")
	if err := d.save(ctx, archive); err != nil {
		return err
	}
	d.status.set("unpacking the archive")
	home := filepath.Join(dir, "home")
	if err := unpack(archive, home); err != nil {
		return fmt.Errorf("unpack the archive from %s: %w", d.mirror.Host, err)
	}
	if err := checkBinaries(filepath.Join(home, "bin")); err != nil {
		return fmt.Errorf("the archive from %s has no server: %w", d.mirror.Host, err)
	}
	return nil
}
