package interleave

import "slices"

// reach returns the footprint of all that a session may do, and of its commit.
func (d *driver) reach(t transaction) footprint {
	all := newFootprint()
	for _, sql := range t.statements() {
		all.add(d.prints.of(sql))
	}
	for place, s := range d.stops {
		if d.mayReach(t, place) {
			all.add(d.prints.of(s.statement))
		}
	}
	if fallsAsleep(t) {
		all.add(d.looksAtAll())
	}
	return all.byTable().add(footprint{shown: all.writes}, footprint{shown: all.creates},
		footprint{shown: set{inProgress: true}})
}

// mayReach reports whether a session may come to a stop.
func (d *driver) mayReach(t transaction, place string) bool {
	function := d.stops[place].function
	return d.prints.callees.triggers[function] || slices.ContainsFunc(t.statements(), func(sql string) bool {
		return d.prints.callees.of(sql)[function]
	})
}

// passed returns the stops at which session i of a world need not wait: what comes after them depends on nothing that
// the other sessions may do.
func (d *driver) passed(w world, i int) []string {
	var others []footprint
	for k, t := range w.sessions {
		if k != i {
			others = append(others, d.reach(t))
		}
	}
	var places []string
	for place, s := range d.stops {
		print := d.prints.of(s.statement).byTable()
		if !slices.ContainsFunc(others, func(o footprint) bool { return dependent(print, o) }) {
			places = append(places, place)
		}
	}
	slices.Sort(places)
	return places
}
