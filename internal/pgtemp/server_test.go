package pgtemp

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheFirstSourceThatIsThereIsTaken(t *testing.T) {
	want := new(Server)
	got, err := startFirst(t.Context(), Options{}, []source{
		{"first", "", found(nil, unavailable("absent"))},
		{"second", "", found(want, nil)},
		{"third", "", found(new(Server), nil)},
	})
	if err != nil || got != want {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestASourceThatFailsIsReportedAndNotReplaced(t *testing.T) {
	broken := errors.New("disk full")
	_, err := startFirst(t.Context(), Options{}, []source{
		{"first", "", found(nil, broken)},
		{"second", "", found(new(Server), nil)},
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "first") {
		t.Errorf("got %v", err)
	}
}

func TestWithoutAnySourceTheErrorSaysInOneParagraphWhyAndWhatToDo(t *testing.T) {
	mirror := httptest.NewServer(answer(http.StatusForbidden))
	defer mirror.Close()
	o := Options{Log: io.Discard, CacheDir: t.TempDir(), Mirror: mirror.URL}
	_, err := startFirst(t.Context(), o, []source{
		{"local binaries", "install them", found(nil, unavailable("not here"))},
		{"Docker", "start Docker", found(nil, unavailable("not\n  there"))},
		{"download", "", startFetched},
	})
	host := strings.TrimPrefix(mirror.URL, "http://")
	want := "no server found: local binaries: not here; Docker: not there; download: " + host +
		", or a proxy before it, forbids the download (HTTP 403 Forbidden). Do one of the following: install them; start Docker"
	var missing NoServerError
	if !errors.As(err, &missing) || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestTheInstallationIsThatOfThisMachinesPackageManager(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if got := installCommand(); !strings.Contains(got, "apt-get install postgresql;") {
		t.Errorf("without any got %q", got)
	}
	writeScript(t, filepath.Join(dir, "apk"), "")
	if got := installCommand(); got != "apk add postgresql" {
		t.Errorf("with apk got %q", got)
	}
}

func found(server *Server, err error) func(context.Context, Options) (*Server, error) {
	return func(context.Context, Options) (*Server, error) { return server, err }
}
