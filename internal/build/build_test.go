package build_test

import (
	"runtime"
	"testing"

	"github.com/gwsql/gw/internal/build"
)

func TestABuildNamesModuleRevisionAndGo(t *testing.T) {
	if got := build.Read(); got.Version == "" || got.Go != runtime.Version() {
		t.Errorf("got %+v", got)
	}
	for want, info := range map[string]build.Info{
		"v0.1.0 (revision 0123456789ab, go1.26.1)": {Version: "v0.1.0", Revision: "0123456789abcdef", Go: "go1.26.1"},
		"(devel) (go1.26.1)":                       {Version: "(devel)", Go: "go1.26.1"},
	} {
		if got := info.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAProgramOfAnotherModuleIsTold(t *testing.T) {
	for want, info := range map[string]build.Info{
		"v0.1.0 (go1.26.1)":                  {Path: "github.com/gwsql/gw", Version: "v0.1.0", Go: "go1.26.1"},
		"example.com/app@(devel) (go1.26.1)": {Path: "example.com/app", Version: "(devel)", Go: "go1.26.1"},
		"(unknown) ()":                       {Version: "(unknown)"},
	} {
		if got := info.Program(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
