// Package cli is what the commands of gw-run share: their sessions with the database, and their output.
package cli

import "github.com/gwsql/gw/internal/stop"

// Env is what a command has of its process: the environment variables, and the reasons to stop.
type Env struct {
	Getenv func(string) string
	Stops  *stop.Reasons
}
