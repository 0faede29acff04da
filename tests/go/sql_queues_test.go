package gotest

import (
	"fmt"
	"slices"
	"testing"
)

// claimedKeys returns which keys a claim of a batch takes; the claim is undone.
func (s *session) claimedKeys(batch int) []string {
	s.t.Helper()
	s.exec("begin")
	defer s.exec("rollback")
	return all[string](s, "select g.key from graphile_worker.get_job_batch('worker', '{task}', $1) as g", batch)
}

// Queues that an open claim has locked come first, and hide no queue behind them.
func TestQueuesThatAnOpenClaimHasHideNoOthers(t *testing.T) {
	db := newDatabase(t)
	holder, s := db.session(), db.session()
	s.exec(`select graphile_worker.add_job('task', queue_name => 'queue' || n, job_key => 'key' || n, priority => n) from generate_series(1, 40) as n`)
	holder.exec("begin")
	if held := all[int64](holder, "select id from graphile_worker.get_job_batch('holder', batch_size => 30)"); len(held) != 30 {
		t.Fatalf("%d jobs are held, want 30", len(held))
	}
	for _, batch := range []int{1, 3, 10} {
		var expected []string
		for n := range batch {
			expected = append(expected, fmt.Sprint("key", 31+n))
		}
		if keys := s.claimedKeys(batch); !slices.Equal(keys, expected) {
			t.Errorf("a batch of %d is %v, want %v", batch, keys, expected)
		}
	}
}

// The first jobs of queues that somebody changes hide no queue behind them, and no job of their queue overtakes them.
func TestHeadsThatSomebodyChangesHideNoQueues(t *testing.T) {
	db := newDatabase(t)
	changer, s := db.session(), db.session()
	s.exec(`select graphile_worker.add_job('task', queue_name => 'queue' || n, job_key => 'key' || n, priority => n) from generate_series(1, 22) as n`)
	s.exec(`select graphile_worker.add_job('task', queue_name => 'queue' || n, job_key => 'second' || n, priority => n) from generate_series(1, 20) as n`)
	changer.exec("begin")
	changer.exec("select graphile_worker.add_job('task', '{}', queue_name => 'queue' || n, job_key => 'key' || n, priority => n) from generate_series(1, 20) as n")
	for _, batch := range []int{1, 2, 10} {
		expected := []string{"key21", "key22"}[:min(batch, 2)]
		if keys := s.claimedKeys(batch); !slices.Equal(keys, expected) {
			t.Errorf("a batch of %d is %v, want %v", batch, keys, expected)
		}
	}
}
