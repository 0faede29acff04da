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
	Wait         Action = "wait"    // for a lock that somebody else holds
	Warn         Action = "warn"    // of what comes with what follows
	Replace      Action = "replace" // a function or trigger that is not ours
)

// A Step is one thing that Up or Repair is about to do.
type Step struct {
	Action    Action
	Schema    string
	Migration Migration     // the one to apply or to try again; zero when waiting for another program that migrates
	Pause     time.Duration // how long Wait lasts
	Err       error         // what made it wait
	Holder    *Holder       // the other program that migrates, or whoever else holds its lock; nil if that is not known
	Warning   string        // what to Warn of
	Object    Object        // what to Replace
}

// String returns the step as a line of progress.
func (s Step) String() string {
	switch {
	case s.Action == CreateSchema:
		return "create schema " + quote(s.Schema)
	case s.Action == Warn:
		return "warning: " + s.Warning
	case s.Action == Replace:
		return fmt.Sprintf("put %s back (%s)", s.Object, s.Object.Origin)
	case s.Action == Apply && s.Migration.Adopted:
		return "adopt Graphile Worker's tables instead of " + s.Migration.Name
	case s.Action == Apply:
		return "apply " + s.Migration.Name
	case s.Migration.Version == 0 && s.Holder != nil:
		return fmt.Sprintf("another migration is running, look again in %s; its lock is held by %s; %s",
			s.Pause, s.Holder, s.Holder.remedy())
	case s.Migration.Version == 0:
		return fmt.Sprintf("another migration is running, look again in %s", s.Pause)
	default:
		return fmt.Sprintf("%s waits for a lock of another session, try again in %s (%v)", s.Migration.Name, s.Pause, s.Err)
	}
}
