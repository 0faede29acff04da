package interleave

import "fmt"

// traced is a step that was done.
type traced struct {
	session int
	ended   bool   // the session was ended
	where   string // where the session has come to
	stops   []bool // which sessions are at a stop now
}

func (s traced) String() string {
	if s.ended {
		return fmt.Sprintf("  %d is ended", s.session+1)
	}
	return fmt.Sprintf("  %d -> %s", s.session+1, s.where)
}

// note writes down the step that session s has just done.
func (d *driver) note(s *session, ended bool) {
	s.leads = s.leads || s.begins && s.at != "" && !s.blocked
	s.begins = false
	step := traced{session: s.number - 1, ended: ended, where: s.where()}
	for _, each := range d.sessions {
		step.stops = append(step.stops, each.at != "")
	}
	d.trace = append(d.trace, step)
}
