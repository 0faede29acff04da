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
		var r claimRest
		r.begin(7, len(claimed), time.Hour)
		r.ended(c.ended)
		if lasts := !r.until.IsZero(); lasts != c.lasts {
			t.Errorf("%s: the rest lasts: %t", c.name, lasts)
		}
	}
	var r claimRest
	r.begin(7, len(claimed), time.Hour)
	if left := time.Until(r.until); left > mostRest {
		t.Errorf("it lasts for %s", left)
	}
}
