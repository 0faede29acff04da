package interleave

import (
	"slices"
	"strings"
)

// of returns the world of calls at a place, by their names: each session has a transaction of the calls that a plus
// joins, which may begin with an isolation level and a colon.
func of(where string, sessions ...string) world {
	all := slices.Concat(places, keyedPlaces)
	at := slices.IndexFunc(all, func(p place) bool { return p.name == where })
	if at < 0 {
		panic("there is no place " + where)
	}
	w := world{name: where + ": " + strings.Join(sessions, ", "), setup: all[at].setup}
	for _, text := range sessions {
		var t transaction
		if level, rest, ok := strings.Cut(text, ": "); ok {
			t.isolation, text = level, rest
		}
		for name := range strings.SplitSeq(text, " + ") {
			t.calls = append(t.calls, callOf(name))
		}
		w.sessions = append(w.sessions, t)
	}
	return w
}

func callOf(name string) call {
	for _, c := range slices.Concat(calls, nodeCalls) {
		if c.name == name {
			return c
		}
	}
	panic("there is no call " + name)
}
