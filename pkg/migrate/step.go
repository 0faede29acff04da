package migrate

import (
	"fmt"
	"time"
)

// An Action is a kind of [Step].
type Action string

const (
	CreateSchema Action = "create schema"
	Apply        Action = "apply"
	Wait         Action = "wait" // for a lock that somebody else holds
)

// A Step is one thing that Up is about to do.
type Step struct {
	Action    Action
	Schema    string
	Migration Migration     // the one to apply or to try again; zero when waiting for another program that migrates
	Pause     time.Duration // how long Wait lasts
	Err       error         // what made it wait
}

// String returns the step as a line of progress.
func (s Step) String() string {
	switch {
	case s.Action == CreateSchema:
		return "create schema " + quote(s.Schema)
	case s.Action == Apply:
		return "apply " + s.Migration.Name
	case s.Migration.Version == 0:
		return fmt.Sprintf("another migration is running, look again in %s", s.Pause)
	default:
		return fmt.Sprintf("%s waits for a lock of another session, try again in %s (%v)", s.Migration.Name, s.Pause, s.Err)
	}
}
