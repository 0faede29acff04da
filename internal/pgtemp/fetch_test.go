package pgtemp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gwsql/gw/internal/pgtemp/pgmirror"
)

// As root, too: the server then runs as another user.
func TestBinariesAreDownloadedOnceIntoTheCache(t *testing.T) {
	archive := standIn(t)
	var requests atomic.Int32
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		pgmirror.Handler(archive).ServeHTTP(w, r)
	}))
	defer mirror.Close()
	cache := filepath.Join(openFolder(t), "cache")

	start := func() string {
		var log strings.Builder
		server, err := startFetched(t.Context(), Options{CacheDir: cache, Mirror: mirror.URL, Log: &log})
		if err != nil {
			t.Fatal(err)
		}
		connect(t, server.URL("postgres"))
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
		return log.String()
	}
	if log := start(); !strings.Contains(log, "downloaded once from "+mirror.URL+" into "+cache) {
		t.Errorf("the first start says %q", log)
	}
	asked := requests.Load()
	if asked == 0 {
		t.Error("nothing was downloaded")
	}
	if log := start(); strings.Contains(log, "downloaded") {
		t.Errorf("the second start says %q", log)
	}
	if again := requests.Load(); again != asked {
		t.Errorf("the second start sent %d requests", again-asked)
	}
	if left, err := filepath.Glob(filepath.Join(cache, "fetch-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestADownloadThatIsCancelledLeavesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	mirror := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	}))
	defer mirror.Close()
	cache := t.TempDir()
	_, err := startFetched(ctx, Options{CacheDir: cache, Mirror: mirror.URL, Log: io.Discard})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	wantNothingIn(t, cache)
}

func TestAnArchiveWritesNothingOutsideItsFolder(t *testing.T) {
	outside := t.TempDir()
	dir := t.TempDir()
	if err := os.Symlink(outside, filepath.Join(dir, "a")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for _, name := range []string{"../file", "a/file", "/file"} {
		if err := writeFile(root, name, 0o644, strings.NewReader("content")); err == nil {
			t.Errorf("%s was written", name)
		}
	}
	wantNothingIn(t, outside)
}

// standIn returns an archive with links to the binaries of this machine.
func standIn(t *testing.T) []byte {
	t.Helper()
	binDir, err := findBinaries(usualPlaces())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	writeScript(t, filepath.Join(dir, "bin", "tool"), "exit")
	for _, name := range []string{"initdb", "postgres"} {
		if err := os.Symlink(filepath.Join(binDir, name), filepath.Join(dir, "bin", name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "share"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "share", "text"), []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	archive, err := pgmirror.Archive(dir)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

func downloadFrom(t *testing.T, mirror string) *download {
	t.Helper()
	d, err := newDownload(Options{Mirror: mirror})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func wantNothingIn(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
