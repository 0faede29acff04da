package migrate_test

import (
	"strings"
	"testing"

	"github.com/gwsql/gw/pkg/migrate"
	"github.com/gwsql/gw/pkg/shard"
)

func TestTheRouterHasAPartitionForEachSlotAndNoPassword(t *testing.T) {
	text, err := migrate.RouterSQL(shard.Map{Shards: []shard.Shard{
		{Name: "a", Connection: "postgres://app:s3cret@a1:5432,a2:5433/it's?target_session_attrs=read-write&sslmode=disable", Slots: shard.Range(0, 127)},
		{Name: "b", Connection: "host=b dbname=app user=app", Slots: shard.Range(128, 255)},
	}}, "my jobs")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`create server "my jobs_shards" foreign data wrapper plproxy`, "cluster 'my jobs_shards';",
		`  p0 'host=''a1,a2'' port=''5432,5433'' dbname=''it\''s'' user=''app'' target_session_attrs=read-write',`,
		`  p255 'host=''b'' port=''5432'' dbname=''app'' user=''app'''`,
		`create or replace function "my jobs".add_job(`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %s", want)
		}
	}
	if strings.Contains(text, "s3cret") || strings.Count(text, "\n  p") < shard.Count {
		t.Error("it has a password, or lacks partitions")
	}
	if _, err := migrate.RouterSQL(shard.Map{}, "jobs"); err == nil {
		t.Error("an empty map is accepted")
	}
}
