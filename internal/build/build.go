// Package build returns the build information of the running program.
package build

import (
	"cmp"
	"runtime/debug"
)

// Info is the build information that the Go command has recorded in the running program.
type Info struct {
	Path     string // of the main module; empty if unknown
	Version  string // of the module; "(devel)" for a build outside a tagged or clean checkout
	Revision string // of the repository; empty if unknown
	Go       string // the version of Go
}

// Read returns the build information of the running program.
func Read() Info {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Info{Version: "(unknown)"}
	}
	build := Info{Path: info.Main.Path, Version: cmp.Or(info.Main.Version, "(devel)"), Go: info.GoVersion}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			build.Revision = setting.Value
		}
	}
	return build
}

// String returns it as "v0.1.0 (revision 0a1b2c3d4e5f, go1.26.1)".
func (b Info) String() string {
	const shortRevision = 12
	text := b.Version + " ("
	if b.Revision != "" {
		text += "revision " + b.Revision[:min(shortRevision, len(b.Revision))] + ", "
	}
	return text + b.Go + ")"
}

// ours is the module of this repository.
const ours = "github.com/gwsql/gw"

// Program returns String, with "<module>@" in front if the program belongs to another module.
func (b Info) Program() string {
	if b.Path == "" || b.Path == ours {
		return b.String()
	}
	return b.Path + "@" + b.String()
}
