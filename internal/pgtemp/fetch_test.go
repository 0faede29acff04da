package pgtemp

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// It runs in a process of its own, since root may not.
func TestBinariesAreDownloadedOnceIntoTheCache(t *testing.T) {
	archive := standIn(t)
	var requests atomic.Int32
	repository := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if strings.HasSuffix(r.URL.Path, ".sha256") {
			fmt.Fprintf(w, "%x", sha256.Sum256(archive))
			return
		}
		_, _ = w.Write(archive)
	}))
	defer repository.Close()

	dir := openFolder(t)
	program := filepath.Join(dir, "fetcher")
	copyProgram(t, program)
	owner, err := serverOwner()
	if err != nil {
		t.Fatal(err)
	}
	if owner != nil {
		if err := os.Chown(dir, owner.uid, owner.gid); err != nil {
			t.Fatal(err)
		}
	}
	cache := filepath.Join(dir, "cache")
	fetcher := func() string {
		cmd := exec.Command(program)
		cmd.Dir = dir
		cmd.SysProcAttr = detached(owner)
		cmd.Env = append(os.Environ(), "GW_PGTEMP_ROLE=fetcher", "GW_PGTEMP_CACHE="+cache, "GW_PGTEMP_REPOSITORY="+repository.URL)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("the fetcher ended with %v: %s", err, out)
		}
		return string(out)
	}

	if out := fetcher(); !strings.Contains(out, "downloaded once into "+cache) || !strings.Contains(out, "postgres://") {
		t.Errorf("the first start says %q", out)
	}
	asked := requests.Load()
	if asked == 0 {
		t.Error("nothing was downloaded")
	}
	if out := fetcher(); strings.Contains(out, "downloaded") || !strings.Contains(out, "postgres://") {
		t.Errorf("the second start says %q", out)
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
	over := make(chan struct{})
	repository := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		cancel()
		<-over
	}))
	defer repository.Close()
	defer close(over)
	cache := t.TempDir()
	err := fetch(ctx, cache, filepath.Join(cache, "home"), repository.URL)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if left, err := os.ReadDir(cache); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// standIn returns an archive as the repository has them, a .txz in a zip, which links to the binaries of this machine.
func standIn(t *testing.T) []byte {
	t.Helper()
	binDir, err := findBinaries(usualPlaces())
	if err != nil {
		t.Fatal(err)
	}
	var files bytes.Buffer
	tarball := tar.NewWriter(&files)
	for _, name := range []string{"initdb", "pg_ctl", "postgres"} {
		link := &tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + name, Linkname: filepath.Join(binDir, name)}
		if err := tarball.WriteHeader(link); err != nil {
			t.Fatal(err)
		}
	}
	if err := tarball.Close(); err != nil {
		t.Fatal(err)
	}
	xz := exec.Command("xz", "--stdout")
	xz.Stdin = &files
	txz, err := xz.Output()
	if err != nil {
		t.Fatalf("run xz (Debian: apt-get install xz-utils): %v", err)
	}

	var archive bytes.Buffer
	jar := zip.NewWriter(&archive)
	file, err := jar.Create("postgres.txz")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.Write(txz); err != nil {
		t.Fatal(err)
	}
	if err := jar.Close(); err != nil {
		t.Fatal(err)
	}
	return archive.Bytes()
}

// copyProgram puts this test binary where every user can run it.
func copyProgram(t *testing.T, path string) {
	t.Helper()
	from, err := os.Open(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
}
