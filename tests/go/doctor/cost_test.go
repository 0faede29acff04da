package doctor_test

import (
	"encoding/json"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// Each finding function reads at most its maximum number of pages, however many live and dead rows the table has.
func TestALookAtALargeTableIsBounded(t *testing.T) {
	database := pgtest.Database(t)
	pool := pgtest.Pool(t, database)
	visit(t, database,
		`insert into graphile_worker._private_jobs (task_id, payload, locked_at, locked_by)
		 select 1, to_json(repeat('x', 1800)), now() - interval '5 hours', 'dead' from generate_series(1, 20000)`,
		"delete from graphile_worker._private_jobs where id % 3 = 0",
		"select graphile_worker.register_worker('worker', '{a}')")
	if pages := pgtest.Value[int64](t, pool, "select pg_relation_size('graphile_worker._private_jobs') / 8192"); pages < 5000 {
		t.Fatalf("the table has %d pages, too few to tell", pages)
	}
	for _, find := range []string{
		"_gw_find_stale_locks", "_gw_find_orphaned_queues", "_gw_find_unknown_tasks", "_gw_find_failed_jobs",
		"_gw_find_unseen_rows", "_gw_find_unreadable_jobs", "_gw_find_held_queues",
	} {
		if read := buffers(t, database, "select * from graphile_worker."+find+"(pages => 100)"); read > 1500 {
			t.Errorf("%s reads %d pages, a hundred and the catalogue's are enough", find, read)
		}
	}
}

// buffers returns how many pages a query reads, in the cache or not.
func buffers(t *testing.T, databaseURL, query string) int {
	t.Helper()
	conn := session(t, databaseURL, query) // so that the catalogue caches are filled
	var text []byte
	if err := conn.QueryRow(t.Context(), "explain (analyze, buffers, format json) "+query).Scan(&text); err != nil {
		t.Fatal(err)
	}
	var explained []struct {
		Plan struct {
			Hit  int `json:"Shared Hit Blocks"`
			Read int `json:"Shared Read Blocks"`
		}
	}
	if err := json.Unmarshal(text, &explained); err != nil {
		t.Fatal(err)
	}
	return explained[0].Plan.Hit + explained[0].Plan.Read
}
