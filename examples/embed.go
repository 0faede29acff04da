// Package examples contains examples: task programs, and a small application in the folder checksums.
package examples

import "embed"

// Tasks contains the directory tasks, whose programs `gw-run demo` serves. Embedded files have no execute permission: set
// it after unpacking them.
//
//go:embed tasks
var Tasks embed.FS
