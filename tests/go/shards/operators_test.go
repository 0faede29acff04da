package shards

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestOperatorsSeeAllShardsAndChangeOne(t *testing.T) {
	pgtest.OnOneVersion(t)
	f := newFleet(t)
	for name, slot := range map[string]int{"a": 0, "c": 128} {
		pgtest.Exec(t, f.pools[name], `
			select graphile_worker.add_job_at($1, 'one', queue_name => 'q'), graphile_worker.add_job_at($1, 'two', job_key => 'k')`, slot)
	}
	list := f.run("gw-run", "jobs", "--shards", f.mapPath)
	lines := strings.Split(strings.TrimSpace(list), "\n")
	if len(lines) != 5 || !strings.HasPrefix(lines[0], "SHARD   ID") || !strings.HasPrefix(lines[1], "a      a:1") || !strings.HasPrefix(lines[4], "c      c:2") {
		t.Errorf("the jobs are\n%s", list)
	}
	if list := f.run("gw-run", "jobs", "--shards", f.mapPath, "--shard", "c", "--json"); strings.Count(list, `{"shard":"c","id":`) != 2 {
		t.Errorf("the jobs of one shard are\n%s", list)
	}
	if stats := f.run("gw-run", "stats", "--over", "0s", "--shards", f.mapPath); strings.Count(stats, "d: ") < 3 {
		t.Errorf("the statistics are\n%s", stats)
	}
	if out := f.run("gw-run", "fail", "a:1", "c:2", "--shards", f.mapPath, "--reason", "broken"); !strings.Contains(out, "a: Failed 1 job.\n") || !strings.Contains(out, "c: Failed 1 job.\n") {
		t.Errorf("failing jobs of two shards prints\n%s", out)
	}
	for name, id := range map[string]int{"a": 1, "c": 2} {
		if failed := pgtest.Value[int](t, f.pools[name], "select sum(id) from graphile_worker.jobs where last_error = 'broken'"); failed != id {
			t.Errorf("job %d of shard %s failed, want %d", failed, name, id)
		}
	}
	for want, args := range map[string][]string{
		"which shard? gw-run remove takes --shard NAME, or ids with a shard, such as a:17": {"remove", "1", "--shards", f.mapPath},
		"there is no shard x; the map has a, b, c, d":                                      {"show", "x:1", "--shards", f.mapPath},
		"--shard needs --shards": {"jobs", "--shard", "a"},
		"--shard and ids with a shard, such as a:17, exclude each other": {"show", "a:1", "--shard", "a", "--shards", f.mapPath},
		"there is no shard e": {"shards", "move", "1", "e", "--shards", f.mapPath},
		"slots are 0 to 255":  {"shards", "move", "300", "a", "--shards", f.mapPath},
	} {
		output, err := exec.CommandContext(t.Context(), pgtest.Program(t, "gw-run"), args...).CombinedOutput()
		if err == nil || !strings.Contains(string(output), want) {
			t.Errorf("gw-run %v prints\n%s, want %s", args, output, want)
		}
	}
	f.run("gw-run", "shards", "drain", "a", "--shards", f.mapPath)
	f.checkOwners()
	shards := f.run("gw-run", "shards", "--shards", f.mapPath)
	if !strings.Contains(shards, "a      up        0      0  none") || !strings.Contains(shards, "The map gives shard a the slots 0-63; correct the map, or move slots.") {
		t.Errorf("after draining a, the shards are\n%s", shards)
	}
}
