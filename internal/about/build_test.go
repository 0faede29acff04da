package about_test

import (
	"runtime"
	"testing"

	"github.com/gwsql/gw/internal/about"
)

func TestABuildNamesModuleRevisionAndGo(t *testing.T) {
	if got := about.ReadBuild(); got.Version == "" || got.Go != runtime.Version() {
		t.Errorf("got %+v", got)
	}
	for want, build := range map[string]about.Build{
		"v0.1.0 (revision 0123456789ab, go1.26.1)": {Version: "v0.1.0", Revision: "0123456789abcdef", Go: "go1.26.1"},
		"(devel) (go1.26.1)":                       {Version: "(devel)", Go: "go1.26.1"},
	} {
		if got := build.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
