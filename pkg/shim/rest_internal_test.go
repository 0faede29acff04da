package shim

import (
	"testing"
	"time"
)

func TestARestLastsUntilTheJobsOfItsClaimHaveEnded(t *testing.T) {
	claimed := []*Job{{ID: 1, Lease: 7}, {ID: 2, Lease: 7}}
	for _, c := range []struct {
		name  string
		ended []*Job
		lasts bool
	}{
		{"none has ended", nil, true},
		{"one has ended", claimed[:1], true},
		{"jobs of another claim have ended", []*Job{{ID: 3, Lease: 6}, {ID: 4, Lease: 6}}, true},
		{"all have ended", claimed, false},
	} {
		var r rest
		r.after(claimed, time.Hour)
		r.ended(c.ended)
		if lasts := r.over != nil; lasts != c.lasts {
			t.Errorf("%s: the rest lasts: %t", c.name, lasts)
		}
	}
	var r rest
	r.after(claimed, time.Hour)
	<-r.over // mostRest later
}
