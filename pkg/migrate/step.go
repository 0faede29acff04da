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
	Wait         Action = "wait"    // for a lock of another session
	Warn         Action = "warn"    // about the following steps
	Share        Action = "share"   // privileges with a role that calls Graphile Worker's functions
	Replace      Action = "replace" // a function or trigger that differs from ours
)

// A Step is a step that Up or Repair is about to make.
type Step struct {
	Action    Action
	Schema    string
	Migration Migration     // the migration to apply or to retry; zero when waiting for another migrating program
	Pause     time.Duration // the duration of Wait
	Err       error         // the reason for waiting
	Holder    *Holder       // the session that holds the lock of migrations; nil if unknown
	Warning   string        // the text of Warn
	Role      Role          // the role of Share
	Object    Object        // the object of Replace
}

// String returns the step as a line of progress.
func (s Step) String() string {
	switch {
	case s.Action == CreateSchema:
		return "create schema " + quote(s.Schema)
	case s.Action == Warn:
		return "warning: " + s.Warning
	case s.Action == Share:
		return fmt.Sprintf("grant role %s the rights that the replaced functions of Graphile Worker need", s.Role.Name)
	case s.Action == Replace:
		return fmt.Sprintf("restore %s (%s)", s.Object, s.Object.Origin)
	case s.Action == Apply && s.Migration.Adopted:
		return "adopt Graphile Worker's tables instead of " + s.Migration.Name
	case s.Action == Apply:
		return "apply " + s.Migration.Name
	case s.Migration.Version == 0 && s.Holder != nil:
		return fmt.Sprintf("another migration is running, trying again in %s; its lock is held by %s; %s",
			s.Pause, s.Holder, s.Holder.remedy())
	case s.Migration.Version == 0:
		return fmt.Sprintf("another migration is running, trying again in %s", s.Pause)
	default:
		return fmt.Sprintf("%s waits for a lock of another session, trying again in %s (%v)", s.Migration.Name, s.Pause,
			s.Err)
	}
}
