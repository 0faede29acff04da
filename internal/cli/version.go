package cli

import "runtime/debug"

// Version returns the version of the module that the running program was built from, as the Go command recorded it, and
// the version of Go: "v0.1.0 (go1.26.1)". It is "(devel)" for a build outside a tagged or clean checkout.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "(unknown)"
	}
	version := info.Main.Version
	if version == "" {
		version = "(devel)"
	}
	return version + " (" + info.GoVersion + ")"
}
