// Package examples holds what a reader can try: task programs, and a whole small application in checksums.
package examples

import "embed"

// Tasks holds the directory tasks, the programs that `gw-run demo` serves jobs with. Embedding loses the permission to
// execute: who unpacks them has to give it back.
//
//go:embed tasks
var Tasks embed.FS
