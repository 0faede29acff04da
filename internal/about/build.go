package about

import (
	"cmp"
	"runtime/debug"
)

// A Build says what the running program was built from, as the Go command recorded it.
type Build struct {
	Version  string // of the module; "(devel)" for a build outside a tagged or clean checkout
	Revision string // of the repository; empty if unknown
	Go       string // the version of Go
}

// ReadBuild returns the build of the running program.
func ReadBuild() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Build{Version: "(unknown)"}
	}
	build := Build{Version: cmp.Or(info.Main.Version, "(devel)"), Go: info.GoVersion}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			build.Revision = setting.Value
		}
	}
	return build
}

// String returns it as "v0.1.0 (revision 0a1b2c3d4e5f, go1.26.1)".
func (b Build) String() string {
	const shortRevision = 12
	text := b.Version + " ("
	if b.Revision != "" {
		text += "revision " + b.Revision[:min(shortRevision, len(b.Revision))] + ", "
	}
	return text + b.Go + ")"
}
