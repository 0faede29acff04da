package interleave

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestEveryFunctionHasStops(t *testing.T) {
	conn := connect(t, pgtest.Database(t))
	prints, err := newFootprints(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	stops, err := addStops(t.Context(), conn, prints)
	if err != nil {
		t.Fatal(err)
	}
	if len(stops) < 200 {
		t.Errorf("there are %d stops", len(stops))
	}
	if _, err := conn.Exec(t.Context(), "select graphile_worker.add_job('task', job_key => 'key', queue_name => 'queue')"); err != nil {
		t.Error(err)
	}
}
