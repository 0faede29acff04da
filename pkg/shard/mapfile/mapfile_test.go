package mapfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gwsql/gw/pkg/shard"
	"github.com/gwsql/gw/pkg/shard/mapfile"
)

func TestAFileIsReadWithVariablesAndItsProblemsHaveTheirPlace(t *testing.T) {
	t.Setenv("HOST_OF_A", "a1")
	path := filepath.Join(t.TempDir(), "map.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("shards:\n  a: {connection: 'postgres://${HOST_OF_A}/app', slots: 0-255}\n")
	m, err := mapfile.Load(path)
	if err != nil || len(m.Shards) != 1 || m.Shards[0] != (shard.Shard{Name: "a", Connection: "postgres://a1/app", Slots: shard.Range(0, 255)}) {
		t.Errorf("it is %+v, error %v", m, err)
	}
	write("shards:\n  a: {connection: a, slots: 0-254}\n")
	if _, err := mapfile.Load(path); err == nil || !strings.HasPrefix(err.Error(), path+":1:1: slots 255 belong to no shard") {
		t.Errorf("the problem is %v", err)
	}
	if _, err := mapfile.Load(path + "x"); !os.IsNotExist(err) && (err == nil || !strings.Contains(err.Error(), "read shards")) {
		t.Errorf("a missing file: %v", err)
	}
}
