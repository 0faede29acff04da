package gotest

import (
	"fmt"
	"slices"
	"testing"
)

// claimsOfEachLook returns which keys claims of a batch take that begin with each kind of look at named queues; each is undone.
func claimsOfEachLook(s *session, batch int, then func(look string, keys []string)) {
	s.t.Helper()
	for _, look := range looks {
		s.exec("begin")
		s.exec("select set_config('gw.claim_cursor', $1, true)", look)
		then(look, all[string](s, "select g.key from graphile_worker.get_job_batch('worker', '{task}', $1) as g", batch))
		s.exec("rollback")
	}
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
		claimsOfEachLook(s, batch, func(look string, keys []string) {
			if !slices.Equal(keys, expected) {
				t.Errorf("with the look %q a batch of %d is %v, want %v", look, batch, keys, expected)
			}
		})
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
		claimsOfEachLook(s, batch, func(look string, keys []string) {
			if !slices.Equal(keys, expected) {
				t.Errorf("with the look %q a batch of %d is %v, want %v", look, batch, keys, expected)
			}
		})
	}
}
