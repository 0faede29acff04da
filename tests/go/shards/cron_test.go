package shards

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
	"github.com/gwsql/gw/pkg/shard"
)

// tick runs a tick of a worker of a shard, and returns how many jobs it added. since is null for the first one.
const tick = `
	select json_array_length(r.scheduled)
	  from graphile_worker.run_cron($1::json, $2::timestamptz, $3::timestamptz) as r`

// Each worker has the whole crontab, and ticks in every shard. A run is added once, also while the slot moves.
func TestARecurringJobRunsOnceOverAllShards(t *testing.T) {
	pgtest.OnOneVersion(t)
	f := newFleet(t)
	const items = `[{"task": "one", "identifier": "first", "pattern": "* * * * *"}, {"task": "two", "identifier": "second", "pattern": "* * * * *"}]`
	all := func(since, now any) (added map[string]int, total int) {
		t.Helper()
		added = make(map[string]int)
		for _, s := range f.of.Shards {
			n := pgtest.Value[int](t, f.pools[s.Name], tick, items, since, now)
			added[s.Name] += n
			total += n
		}
		return added, total
	}
	start := pgtest.Value[string](t, f.pools["a"], "select date_trunc('minute', now())::text")
	minute := func(n int) string {
		return pgtest.Value[string](t, f.pools["a"], "select ($1::timestamptz + $2 * interval '1 minute')::text", start, n)
	}
	all(nil, minute(0))
	added, total := all(minute(0), minute(1))
	home := func(identifier string) string { return f.of.Shards[shard.Slot(identifier)/64].Name }
	want := make(map[string]int)
	want[home("first")]++
	want[home("second")]++
	for _, s := range f.of.Shards {
		if added[s.Name] != want[s.Name] {
			t.Errorf("shard %s added %d jobs, want %d", s.Name, added[s.Name], want[s.Name])
		}
	}
	if total != 2 {
		t.Errorf("%d jobs were added in a minute, want 2", total)
	}

	// The slot moves after its shard has handled a minute, and before the target has: the run is not repeated.
	slot := shard.Range(shard.Slot("first"), shard.Slot("first"))
	target := map[string]string{"a": "b", "b": "c", "c": "d", "d": "a"}[home("first")]
	pgtest.Value[int](t, f.pools[home("first")], tick, items, minute(1), minute(2))
	f.run("gw-run", "shards", "move", slot.String(), target, "--shards", f.mapPath)
	if n := pgtest.Value[int](t, f.pools[target], tick, items, minute(1), minute(2)); n != countIf(home("second") == target) {
		t.Errorf("the target added %d jobs of a minute that the source had handled", n)
	}
	if n := pgtest.Value[int](t, f.pools[target], tick, items, minute(2), minute(3)); n != 1+countIf(home("second") == target) {
		t.Errorf("the target added %d jobs of the next minute", n)
	}
	if n := pgtest.Value[int](t, f.pools[home("first")], tick, items, minute(2), minute(3)); n != countIf(home("second") == home("first")) {
		t.Errorf("the source added %d jobs of the next minute", n)
	}
	if _, err := f.pools[home("first")].Exec(t.Context(), "select graphile_worker.cron_schedule('first', '* * * * *', 'one')"); err == nil {
		t.Error("a schedule whose slot is in another shard is accepted")
	}
}

func countIf(is bool) int {
	if is {
		return 1
	}
	return 0
}
