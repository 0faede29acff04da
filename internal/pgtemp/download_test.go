package pgtemp

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtemp/pgmirror"
)

func TestTheArchiveIsWhereMavenCentralHasIt(t *testing.T) {
	for want, machine := range map[string][2]string{
		"linux-amd64":    {"linux", "amd64"},
		"linux-arm64v8":  {"linux", "arm64"},
		"linux-arm32v7":  {"linux", "arm"},
		"darwin-arm64v8": {"darwin", "arm64"},
	} {
		if got := strings.TrimSuffix(platform(machine[0], machine[1]), "-alpine"); got != want {
			t.Errorf("%v is %s, want %s", machine, got, want)
		}
	}
	if path := archivePath(); !strings.HasPrefix(path, "io/zonky/test/postgres/embedded-postgres-binaries-") ||
		!strings.HasSuffix(path, "-"+fetchedVersion+".jar") {
		t.Errorf("the path is %s", path)
	}
}

func TestAFailedDownloadSaysWhatIsAtFault(t *testing.T) {
	archive := standIn(t)
	for name, test := range map[string]struct {
		mirror http.HandlerFunc
		want   string
	}{
		"forbidden": {answer(http.StatusForbidden), "forbids the download (HTTP 403 Forbidden)"},
		"behind a proxy that asks for a password": {answer(http.StatusProxyAuthRequired),
			"forbids the download (HTTP 407"},
		"not there": {answer(http.StatusNotFound), "has no PostgreSQL " + fetchedVersion + " for "},
		"broken":    {answer(http.StatusBadGateway), "answers with HTTP 502 Bad Gateway"},
		"another archive than that of the checksum": {func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, ".sha256") {
				fmt.Fprint(w, "beef")
				return
			}
			pgmirror.Handler(archive).ServeHTTP(w, r)
		}, "is damaged: its SHA-256 is "},
		"half an archive": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			_, _ = w.Write(archive[:100])
		}, "closed the connection during the download"},
		"a page instead of an archive": {pgmirror.Handler([]byte("<html>Log in")).ServeHTTP,
			"unpack the archive from 127.0.0.1"},
		"an empty archive":            {pgmirror.Handler(emptyZip(t)).ServeHTTP, "it contains no .txz file"},
		"an archive without a server": {pgmirror.Handler(packed(t, t.TempDir())).ServeHTTP, "has no server"},
	} {
		t.Run(name, func(t *testing.T) {
			mirror := httptest.NewServer(test.mirror)
			defer mirror.Close()
			wantFault(t, downloadFrom(t, mirror.URL), test.want)
		})
	}
}

func TestAMirrorWithoutChecksumsWillDo(t *testing.T) {
	archive := standIn(t)
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, ".sha256") {
			http.NotFound(w, r)
			return
		}
		pgmirror.Handler(archive).ServeHTTP(w, r)
	}))
	defer mirror.Close()
	cache := t.TempDir()
	if err := fetch(t.Context(), cache, filepath.Join(cache, "home"), downloadFrom(t, mirror.URL)); err != nil {
		t.Error(err)
	}
}

func TestAMirrorThatStallsIsGivenUp(t *testing.T) {
	for name, before := range map[string]http.HandlerFunc{
		"before its answer": func(http.ResponseWriter, *http.Request) {},
		"in the archive": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("the first bytes"))
			w.(http.Flusher).Flush()
		},
	} {
		t.Run(name, func(t *testing.T) {
			mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				before(w, r)
				<-r.Context().Done()
			}))
			defer mirror.Close()
			d := downloadFrom(t, mirror.URL)
			d.stall = 50 * time.Millisecond
			d.client.Transport.(*http.Transport).ResponseHeaderTimeout = d.stall
			want := map[string]string{"before its answer": "does not answer",
				"in the archive": "stalls: no data has arrived for 50ms"}
			wantFault(t, d, want[name])
		})
	}
}

func TestAMirrorThatIsNotThereIsToldFromANameThatIsNot(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	wantFault(t, downloadFrom(t, "http://"+listener.Addr().String()), "refuses the connection")

	for want, failure := range map[string]error{
		"there is no DNS entry for the name mirror.example": &net.DNSError{Name: "mirror.example",
			Err: "no such host", IsNotFound: true},
		"the DNS does not resolve the name mirror.example (s": &net.DNSError{Name: "mirror.example",
			Err: "server misbehaving"},
		"there is no route to mirror.example": &net.OpError{Op: "dial", Err: syscall.EHOSTUNREACH},
	} {
		d := downloadFrom(t, "https://mirror.example")
		d.client.Transport.(*http.Transport).DialContext = func(context.Context, string, string) (net.Conn, error) {
			return nil, failure
		}
		wantFault(t, d, want)
	}
}

func TestACertificateThatIsNotTrustedIsToldAsThat(t *testing.T) {
	mirror := httptest.NewTLSServer(answer(http.StatusOK))
	mirror.Config.ErrorLog = log.New(io.Discard, "", 0) // it tells of the client that has gone
	defer mirror.Close()
	wantFault(t, downloadFrom(t, mirror.URL), "is not trusted", "ca-certificates")
}

func TestOnlyTheWebHasMirrors(t *testing.T) {
	for _, mirror := range []string{"mirror.example", "ftp://mirror.example", "/srv/mirror", "http://", "http://%zz"} {
		if _, err := newDownload(Options{Mirror: mirror}); err == nil || strings.Contains(err.Error(), mirror) {
			t.Errorf("for %s got %v", mirror, err)
		}
	}
}

func TestThePasswordOfAMirrorIsUsedAndNotShown(t *testing.T) {
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if user, password, _ := r.BasicAuth(); user != "me" || password != "secret" {
			t.Errorf("the mirror is asked by %s with the password %s", user, password)
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer mirror.Close()
	u, err := url.Parse(mirror.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("me", "secret")
	var out strings.Builder
	_, err = startFetched(t.Context(), Options{CacheDir: t.TempDir(), Mirror: u.String(), Log: &out})
	if said := out.String() + err.Error(); strings.Contains(said, "secret") {
		t.Error(said)
	}
}

func TestALongDownloadSaysHowFarItIs(t *testing.T) {
	told := make(chan string, 100)
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "3000000")
		_, _ = w.Write(make([]byte, 2_000_000))
		w.(http.Flusher).Flush()
		for line := range told {
			if strings.Contains(line, "PostgreSQL: downloading: 2.0 of 3.0 MB (") {
				return
			}
		}
	}))
	defer mirror.Close()
	d := downloadFrom(t, mirror.URL)
	d.status = runStatus(lines(told), false, time.Millisecond)
	wantFault(t, d, "closed the connection")
	d.status.end()
}

// wantFault wants a download to fail with these words, as the reason that a source is not available, and to leave
// nothing.
func wantFault(t *testing.T, d *download, words ...string) {
	t.Helper()
	cache := t.TempDir()
	err := fetch(t.Context(), cache, filepath.Join(cache, "home"), d)
	for _, want := range words {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in %v", want, err)
		}
	}
	wantNothingIn(t, cache)
}

func emptyZip(t *testing.T) []byte {
	t.Helper()
	var content bytes.Buffer
	if err := zip.NewWriter(&content).Close(); err != nil {
		t.Fatal(err)
	}
	return content.Bytes()
}

func packed(t *testing.T, dir string) []byte {
	t.Helper()
	archive, err := pgmirror.Archive(dir)
	if err != nil {
		t.Fatal(err)
	}
	return archive
}

func answer(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}
