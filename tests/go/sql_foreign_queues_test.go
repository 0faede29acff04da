package gotest

import (
	"fmt"
	"testing"
)

// addForeign adds jobs of a task that the worker does not serve, each in a named queue of its own, in front of all others.
func (s *session) addForeign(first, last int) {
	s.t.Helper()
	s.exec(fmt.Sprintf(`
		select count(*) from graphile_worker.add_jobs(array(
		  select row('foreign', null, 'foreign' || n, now() - interval '1 hour', null, null, -1, null)::graphile_worker.job_spec
		    from generate_series(%d, %d) as n))`, first, last))
}

// claimBlocks returns how many blocks three claims read, one after the other in a new session, each undone.
func (d *database) claimBlocks(batch int) (blocks [3]int) {
	d.t.Helper()
	e := d.explainer()
	defer func() { _ = e.conn.Close(d.t.Context()) }()
	for i := range blocks {
		e.exec("begin")
		plans := e.explain(fmt.Sprintf("select id from graphile_worker.get_job_batch('worker', array['task'], %d)",
			batch))
		e.exec("rollback")
		root := plans[len(plans)-1].Plan
		blocks[i] = root.Hit + root.Read
	}
	return blocks
}

// The claims of a worker read a few pages for any number of queues with jobs of tasks that it does not serve, locked or not: in
// a new session, which also reads the catalog, and in one that has claimed before, with or without jobs of its own tasks.
func TestQueuesOfTasksThatAWorkerDoesNotServeCostItNothing(t *testing.T) {
	for _, own := range []struct {
		name, add string
		most      [2]int // blocks of a claim of one job and of ten, besides those of the catalog
	}{
		{"nothing to do", "select from graphile_worker.add_job('task', run_at => now() + interval '1 day')",
			[2]int{250, 250}},
		{"a job without a queue", "select from graphile_worker.add_job('task')", [2]int{250, 250}},
		{"a job in a queue", "select from graphile_worker.add_job('task', queue_name => 'own')", [2]int{250, 250}},
		{"a job in a queue of theirs", "select from graphile_worker.add_job('task', queue_name => 'foreign1')",
			[2]int{250, 250}},
		{"a hundred queues", "select from generate_series(1, 100) as n, graphile_worker.add_job('task', queue_name => 'own' || n)", [2]int{450, 900}},
	} {
		for _, locked := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, locked: %v", own.name, locked), func(t *testing.T) {
				t.Parallel()
				d := newDatabase(t)
				d.watcher.exec("alter table graphile_worker._private_jobs set (autovacuum_enabled = off)")
				d.watcher.exec(own.add)
				var alone [2]int
				for i, batch := range []int{1, 10} {
					alone[i] = d.claimBlocks(batch)[0]
				}
				for _, state := range []struct {
					name   string
					change func()
				}{
					{"1000 queues", func() { d.watcher.addForeign(1, 1000) }},
					{"10000 queues", func() { d.watcher.addForeign(1001, 10000) }},
					{"analysed", func() { d.watcher.exec("vacuum analyze") }},
				} {
					state.change()
					if locked {
						d.watcher.exec(`
							update graphile_worker._private_job_queues set locked_at = now(), locked_by = 'other'
							 where queue_name like 'foreign%' and queue_name <> 'foreign1'`)
					}
					for i, batch := range []int{1, 10} {
						most := own.most[i]
						blocks := d.claimBlocks(batch)
						costs := func() bool {
							return blocks[0] > alone[i]*3/2+most ||
								max(blocks[1], blocks[2]) > most
						}
						// A session reads the catalog again when others have made and dropped much in other databases, as other
						// tests do now and then. What a claim costs shows each time.
						for tries := 0; costs() && tries < 4; tries++ {
							t.Logf("%s: claims of %d: %v blocks", state.name, batch, blocks)
							blocks = d.claimBlocks(batch)
						}
						t.Logf("%s: claims of %d: %v blocks, alone %d", state.name, batch, blocks, alone[i])
						if costs() {
							t.Errorf("%s: claims of %d read %v blocks, want %d at most; the first one reads %d without those queues",
								state.name, batch, blocks, most, alone[i])
						}
					}
				}
			})
		}
	}
}
