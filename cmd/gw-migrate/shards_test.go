package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// mapOf writes a file of shards and returns its path. slots are those of each shard, in the order of the databases.
func mapOf(t *testing.T, databases []string, slots ...string) string {
	t.Helper()
	text := "shards:\n"
	for i, of := range slots {
		text += fmt.Sprintf("  %c: {connection: %q, slots: %q}\n", 'a'+i, databases[i], of)
	}
	path := filepath.Join(t.TempDir(), "map.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestShardsAreMigratedInTurnAndGetTheirSlots(t *testing.T) {
	databases := []string{pgtest.EmptyDatabase(t), pgtest.EmptyDatabase(t), pgtest.EmptyDatabase(t)}
	two := mapOf(t, databases, "0-99", "100-255")
	gwMigrate(t, nil, "up", "--dry-run", "--shards", two).expect(t, exitOK, "would create schema", "shard b:\n")
	gwMigrate(t, nil, "status", "--check", "--shards", two).expect(t, exitBehind, "shard      b\n", "shard a: schema")
	gwMigrate(t, nil, "up", "--shards", two).expect(t, exitOK, "", "shard a: joined\nshard b: joined\n")
	gwMigrate(t, nil, "up", "--shards", two).expect(t, exitOK, "", "up to date")
	gwMigrate(t, nil, "status", "--check", "--json", "--shards", two).expect(t, exitOK, `{"shard":"b"`, "")

	pool := pgtest.Pool(t, databases[1])
	if got := pgtest.Value[string](t, pool, "select format('%s-%s in %s', min(slot), max(slot), graphile_worker.shard_name()) from graphile_worker.list_shard_slots() where state = 'here'"); got != "100-255 in b" {
		t.Errorf("the second database has the slots %s", got)
	}

	// A new shard gets no slots of others. What the map says about them is a plan.
	three := mapOf(t, databases, "0-99", "100-199", "200-255")
	gwMigrate(t, nil, "up", "--shards", three).expect(t, exitOK, "",
		"shard c: joined\nslots 200-255 are in shard b; to move them to shard c as in the map, run: gw-run shards move 200-255 c\n")
	if got := pgtest.Value[int](t, pgtest.Pool(t, databases[2]), "select count(*) from graphile_worker.list_shard_slots() where state = 'here'"); got != 0 {
		t.Errorf("the new shard has %d slots", got)
	}
	role := newRole(t)
	gwMigrate(t, nil, "grants", "--producer", role, "--shards", two).expect(t, exitOK, role+": producer\n", "shard b:\n")
	gwMigrate(t, nil, "grants", "--revoke", role, "--shards", two).expect(t, exitOK, "", "shard b:\n")
}

func TestMistakesWithShardsAreTold(t *testing.T) {
	databases := []string{pgtest.EmptyDatabase(t), pgtest.Database(t)}
	two := mapOf(t, databases, "0-99", "100-255")
	gwMigrate(t, nil, "up", "--shards", two, "--connection", "app").expect(t, exitUsage, "", "--shards and --connection exclude each other")
	gwMigrate(t, nil, "up", "--shards", mapOf(t, databases, "0-99")).expect(t, exitFailed, "", "map.yaml:1:1: slots 100-255 belong to no shard")
	gwMigrate(t, nil, "up", "--shards", "none.yaml").expect(t, exitFailed, "", "read shards: open none.yaml")

	// Jobs that were added before may belong anywhere.
	pgtest.Exec(t, pgtest.Pool(t, databases[1]), "select graphile_worker.add_job('task', queue_name => 'q')")
	gwMigrate(t, nil, "up", "--shards", two).expect(t, exitFailed, "", "The database of shard b has jobs, which may belong to slots of other shards.")
	gwMigrate(t, nil, "up", "--shards", mapOf(t, databases, "none", "0-255")).expect(t, exitFailed, "", "")
	swapped := mapOf(t, []string{databases[1], databases[0]}, "0-255", "none")
	if out := gwMigrate(t, nil, "up", "--shards", swapped); out.code == exitOK || !strings.Contains(out.stderr, "This database is the shard") {
		t.Errorf("shards with other names: %+v", out)
	}
}
