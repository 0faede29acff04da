package main

import (
	"fmt"

	"github.com/gwsql/gw/bench/internal/queue"
)

// A state is the content of a table that makes claims difficult. All states also contain the same ready plain jobs.
type state struct {
	name string

	// budget is the maximum cost of a claim, in time and in WAL, as a multiple of a claim from the plain table.
	budget float64

	// make are the statements that create the state, and restore are those that are repeated before each round, after
	// the jobs that have run were replaced by new plain ones.
	make    []string
	restore string

	// queued is whether the claimed jobs are in queues. Otherwise they are plain.
	queued bool

	// claimed is whether one job is claimed and stays claimed.
	claimed bool

	// unvacuumed is whether the table is only analysed.
	unvacuumed bool

	// forbidden are the flags of jobs that the worker refuses.
	forbidden []string
}

// uglyStates returns the states, with sizes scaled by size. Jobs that a claim has to skip come before the plain ones in
// order.
func uglyStates(size func(int) int) []state {
	const usedUp = 5000 // in one round; there must be as many queues
	behindLock := []string{
		queue.AddQueues(1),
		queue.Insert(size(100_000), "priority, job_queue_id", "-1, (select q.id from "+queue.QueuesTable+" as q)"),
	}
	states := []state{
		{name: "plain, measured twice", budget: 1.5},
		{name: "300 000 more urgent future jobs", budget: 1.5, make: []string{
			queue.Insert(size(300_000), "priority, run_at", "-1, now() + interval '1 day' + i * interval '1 ms'")}},
		{name: "100 000 jobs behind one locked queue, not vacuumed", budget: 3, make: behindLock, claimed: true,
			unvacuumed: true},
		{name: "the same, vacuumed", budget: 1.5, make: behindLock, claimed: true},
	}
	for _, n := range []int{10_000, 100_000} {
		states = append(states, state{
			name: fmt.Sprintf("%d idle queues without a job", n), budget: 1.5,
			make: []string{queue.AddQueues(size(n))}})
	}
	for _, urgency := range []struct {
		name, priority string
		queued         bool
	}{{"less", "1", false}, {"more", "-1", true}} {
		for _, n := range []int{10_000, 100_000} {
			states = append(states, state{
				name:    fmt.Sprintf("%d idle queues with a %s urgent ready job each", n, urgency.name),
				budget:  2.5,
				make:    []string{queue.AddQueues(max(size(n), usedUp))},
				restore: oneJobEach(urgency.priority),
				queued:  urgency.queued,
			})
		}
	}
	states = append(states,
		state{name: "300 000 permanently failed", budget: 1.5, make: []string{
			queue.Insert(size(300_000), "priority, attempts, max_attempts, last_error", "-1, 25, 25, 'failed'")}},
		state{name: "1 000 000 ready", budget: 1.5, make: []string{queue.Fill(size(1_000_000))}},
	)
	for _, sets := range []int{1, 10, 100} {
		budget := 2.0
		if sets > 10 {
			budget = 5
		}
		s := state{name: fmt.Sprintf("100 000 with forbidden flags, %d distinct sets", sets), budget: budget,
			make: []string{
				queue.Insert(size(100_000), "priority, flags",
					fmt.Sprintf("-1, jsonb_build_object('flag-' || i %% %d, true)", sets))}}
		for i := range sets {
			s.forbidden = append(s.forbidden, fmt.Sprintf("flag-%d", i))
		}
		states = append(states, s)
	}
	foreign := "insert into " + queue.TasksTable + " (identifier) values ('foreign')"
	states = append(states, state{name: "100 000 queues with a ready job of a task that is not asked for", budget: 5,
		make: []string{
			queue.AddQueues(size(100_000)), foreign,
			fmt.Sprintf("insert into %s (task_id, job_queue_id, priority, run_at) "+
				"select t.id, q.id, -1, now() - interval '12 hours' from %s as t, %s as q where t.identifier = 'foreign'",
				queue.JobsTable, queue.TasksTable, queue.QueuesTable)}})
	return append(states, state{name: "100 000 ready of a task that is not asked for", budget: 5, make: []string{
		foreign,
		queue.InsertFor("foreign", size(100_000), "run_at", "now() - interval '12 hours' + i * interval '1 ms'")}})
}

// oneJobEach returns a statement that adds a job to every queue without one.
func oneJobEach(priority string) string {
	return fmt.Sprintf("insert into %s (task_id, payload, job_queue_id, priority) "+
		"select t.id, json_build_object('queue', q.id), q.id, %s from %s as t, %s as q where t.identifier = '%s' "+
		"and not exists (select from %[1]s as j where j.job_queue_id = q.id)", queue.JobsTable, priority,
		queue.TasksTable, queue.QueuesTable, queue.Task)
}
