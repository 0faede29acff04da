package operate

import (
	"encoding/json"
	"math"
	"testing"
)

// The number of pages that a command reads does not grow with the queue: a list reads as many as its rows need, a count as many
// as the sample needs.
func TestALookAtALargeQueueIsBounded(t *testing.T) {
	b := newBench(t)
	b.exec(
		`insert into ._private_tasks (identifier) values ('a'), ('b')`,
		`insert into ._private_job_queues (queue_name) select 'q' || n from generate_series(1, 100) as n`,
		`insert into ._private_jobs (task_id, job_queue_id, payload, key)
		 select 1 + n % 2, case when n % 10 = 0 then 1 + n % 100 end, to_json(repeat('x', 1800)), 'k' || n from generate_series(1, 20000) as n`,
		`analyze ._private_jobs`)
	for query, most := range map[string]int{
		"select * from .list_jobs()":                                                          700,
		"select * from .list_jobs(after_id => 19000)":                                         700,
		"select * from .list_jobs(task => 'b', job_state => 'ready')":                         700,
		"select * from .list_jobs(job_key => 'k15000')":                                       50,
		"select * from .list_jobs(queue => 'q11', job_state => 'ready', max_rows => 10)":      600,
		"select * from .matching_job_ids(job_ids => '{1,10000,20000}', job_state => 'ready')": 50,
		"select * from .show_jobs('{1,10000,20000}')":                                         50,
		"select * from .retry_jobs('{1,10000,20000}')":                                        150,
		"select * from .list_tasks(pages => 100)":                                             300,
		"select * from .list_queues(pages => 100)":                                            300,
		"select * from .list_workers(pages => 100)":                                           300,
		"select * from .queue_stats(pages => 100)":                                            600,
	} {
		if read := b.buffers(query); read > most {
			t.Errorf("%s reads %d pages, want at most %d", query, read, most)
		}
	}
}

// buffers returns the number of pages that a query reads, cached or not, once the catalogue caches are filled: the least of
// four runs, because changes of the catalogues of any database of the server may empty these caches.
func (b bench) buffers(query string) int {
	b.t.Helper()
	conn, err := b.pool.Acquire(b.t.Context())
	if err != nil {
		b.t.Fatal(err)
	}
	defer conn.Release()
	least := math.MaxInt
	for range 4 {
		var text []byte
		if err := conn.QueryRow(b.t.Context(),
			"explain (analyze, buffers, format json) "+inQueue(query)).Scan(&text); err != nil {
			b.t.Fatalf("%s: %v", query, err)
		}
		var explained []struct {
			Plan struct {
				Hit  int `json:"Shared Hit Blocks"`
				Read int `json:"Shared Read Blocks"`
			}
		}
		if err := json.Unmarshal(text, &explained); err != nil {
			b.t.Fatal(err)
		}
		least = min(least, explained[0].Plan.Hit+explained[0].Plan.Read)
	}
	return least
}
