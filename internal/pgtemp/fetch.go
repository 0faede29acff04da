package pgtemp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	// fetchedVersion is the server that is downloaded, as the archives of zonky.io are numbered.
	fetchedVersion = "17.5.0"
	// rootCache is where root keeps downloaded binaries: the server's user has no way into root's home.
	rootCache = "/var/cache/gw"
)

// startFetched runs binaries that it has downloaded, now or at an earlier start. Root runs them as another user, as it
// does with local binaries.
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
	fmt.Fprintf(o.Log, "PostgreSQL: none found here, so version %s is downloaded once from %s into %s\n",
		fetchedVersion, d.mirror.Redacted(), home)
	if err := fetch(ctx, cache, home, d); err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, unavailable(err.Error())
	}
	return startCluster(ctx, binDir, o)
}

// cache returns the folder that keeps downloaded binaries.
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

// fetch puts the server's binaries into home, whole or not at all, so that starters do not disturb each other.
func fetch(ctx context.Context, cache, home string, d *download) error {
	if err := makeCache(cache); err != nil {
		return fmt.Errorf("make the cache folder: %w", err)
	}
	scratch, err := os.MkdirTemp(cache, "fetch-")
	if err != nil {
		return fmt.Errorf("make a folder for the download: %w", err)
	}
	defer os.RemoveAll(scratch)
	dog, err := startWatchdog(`rm -rf "$1"`, scratch)
	if err != nil {
		return err
	}
	err = fetchInto(ctx, scratch, d)
	if err == nil {
		err = os.Rename(filepath.Join(scratch, "home"), home)
		if err != nil && checkBinaries(filepath.Join(home, "bin")) == nil {
			err = nil // another process was quicker
		}
	}
	return errors.Join(err, os.RemoveAll(scratch), dog.dismiss())
}

// makeCache makes the folder that keeps binaries. Root's is open for the server's user, whatever the umask.
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
