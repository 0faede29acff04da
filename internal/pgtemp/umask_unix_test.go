//go:build unix

package pgtemp

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gwsql/gw/internal/pgtemp/pgmirror"
)

func TestBinariesAreForEverybodyWhateverTheUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	mirror := httptest.NewServer(pgmirror.Handler(standIn(t)))
	defer mirror.Close()
	cache := filepath.Join(openFolder(t), "cache")
	home := filepath.Join(cache, "home")
	if err := fetch(t.Context(), cache, home, downloadFrom(t, mirror.URL)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{".": 0o755, "bin": 0o755, "bin/tool": 0o755, "share/text": 0o644} {
		info, err := os.Stat(filepath.Join(home, path))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has the mode %o, want %o", path, got, want)
		}
	}
}

func TestRootsCacheIsOpenForTheServersUserWhateverTheUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o077))
	cache := filepath.Join(openFolder(t), "cache")
	if err := makeCache(cache); err != nil {
		t.Fatal(err)
	}
	want := os.FileMode(0o700)
	if os.Geteuid() == 0 {
		want = 0o755
	}
	if info, err := os.Stat(cache); err != nil || info.Mode().Perm() != want {
		t.Errorf("got %v, want the mode %o: %v", info.Mode(), want, err)
	}
}
