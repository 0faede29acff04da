package main

import "github.com/gwsql/gw/internal/stop"

// Env is what a command has of its process: the environment variables, and the reasons to stop.
type Env struct {
	Getenv func(string) string
	Stops  *stop.Reasons
}
