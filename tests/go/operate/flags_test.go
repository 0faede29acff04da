package operate

import "testing"

// Without a unit PostgreSQL reads seconds.
func TestATimeOfAnyCommandHasAUnit(t *testing.T) {
	b := newBench(t)
	b.exec(`select .add_job('t', run_at => '2100-01-01')`)
	for _, args := range [][]string{
		{"reschedule", "1", "--in", "5"}, {"pause", "--all", "--for", "5"}, {"jobs", "--older-than", "5"},
		{"remove", "--newer-than", "30", "--yes"}, {"limit", "set", "l", "--rate", "5", "--per", "60"},
		{"add", "t", "--in", "-5"},
	} {
		b.wantPart(b.run(args...), 2, "", "flag: it has no unit; write ")
	}
	if !b.is(`select count(*) = 1 and min(run_at) = '2100-01-01' from .jobs`) ||
		!b.is(`select count(*) = 0 from .list_pauses()`) {
		t.Error("a refused command has changed something")
	}
}

// complete --task "$TASK" --state ready would otherwise complete the jobs of all tasks if TASK is not set.
func TestAnEmptyConditionIsRefused(t *testing.T) {
	b := newBench(t)
	b.exec(`select .add_job('t')`)
	for _, args := range [][]string{
		{"complete", "--yes", "--state", "ready", "--task", ""}, {"complete", "--yes", "--state", "ready", "--queue",
			""},
		{"complete", "--yes", "--state", "ready", "--key", ""}, {"complete", "--yes", "--task", "t", "--state", ""},
		{"complete", "--yes", "--task", "t", "--older-than", ""}, {"jobs", "--task", ""}, {"export", "--task", ""},
		{"pause", "--limit", "l", "--lane", ""}, {"resume", "--task", ""}, {"why", "1", "--key", ""},
		{"limit", "set", "l", "--max-running", "1", "--by", ""},
	} {
		b.wantPart(b.run(args...), 2, "", "flag: it is empty")
	}
	if !b.is(`select count(*) = 1 from .jobs`) {
		t.Error("the job of another task was completed")
	}
}
