package interleave

import "testing"

// mended are worlds in which pairs found defects that were fixed, and the defects.
var mended = []struct {
	world
	was string
}{
	{of("busy", "unlock", "unlock"), "the call that freed nothing held the job that the other call had freed, and notified nobody"},
	{of("dead queue", "complete", "heartbeat"),
		"the outcome held a queue that the recovery had freed, and notified nobody"},
	{of("scheduled", "schedule", "unschedule"), "the schedule had no row in _private_known_crontabs"},
	{of("ready", "dedupe", "run_cron"), "add_job, which replaced nothing, held a job of which run_cron notified workers, and notified nobody"},
	{of("running streak", "complete", "unlock"), "a job that had become the first of its claim got its attempt back"},
}

func TestWhatWasMendedStaysMended(t *testing.T) {
	d := newTestDriver(t)
	for _, m := range mended {
		findings, did, err := d.check(t.Context(), m.world, 0, newJudges()...)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %s", m.world.name, did)
		for _, f := range findings {
			t.Errorf("again, %s: %s", m.was, f)
		}
	}
}
