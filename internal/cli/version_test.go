package cli_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/cli"
)

func TestVersionNamesModuleAndGo(t *testing.T) {
	got := cli.Version()
	if module, _, ok := strings.Cut(got, " "); !ok || module == "" || !strings.Contains(got, runtime.Version()) {
		t.Errorf("got %q", got)
	}
}
