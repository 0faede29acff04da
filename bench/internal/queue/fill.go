package queue

import (
	"fmt"
	"strings"
)

// Fill returns a statement that inserts n ready plain jobs of the last hours, one per millisecond.
func Fill(n int) string {
	return Insert(n, "run_at", "now() - interval '6 hours' + i * interval '1 ms'")
}

// Insert returns a statement that inserts n jobs with values for some columns, in which i counts from 1; the other
// columns get their defaults.
func Insert(n int, columns, values string) string { return InsertFor(Task, n, columns, values) }

// InsertFor is Insert for jobs of another task.
func InsertFor(task string, n int, columns, values string) string {
	return fmt.Sprintf("insert into %s (task_id, payload, %s) "+
		"select t.id, json_build_object('number', i), %s from %s as t, generate_series(1, %d) as s (i) where t.identifier = '%s'",
		JobsTable, columns, values, TasksTable, n, task)
}

// AddQueues returns a statement that adds n idle queues, queue-1 and so on.
func AddQueues(n int) string {
	return fmt.Sprintf("insert into %s (queue_name) select 'queue-' || i from generate_series(1, %d) as s (i)",
		QueuesTable, n)
}

// Add returns a statement that adds a job for each i of a range by add_jobs, so that the limits of its task apply.
// payload is an expression of i.
func Add(task, payload string, priority, from, to int) string {
	return fmt.Sprintf("select count(*) from %s.add_jobs(array(select row('%s', %s, null, null, null, null, %d, null)::%[1]s.job_spec "+
		"from generate_series(%[5]d, %[6]d) as i))", Schema, task, payload, priority, from, to)
}

// SetLimit returns a statement that sets a limit for a task.
func SetLimit(task, arguments string) string { return SetLimitOf([]string{task}, arguments) }

// SetLimitOf is SetLimit for several tasks.
func SetLimitOf(tasks []string, arguments string) string {
	return fmt.Sprintf("select from %s.set_limit('bench', tasks => '{%s}', %s)", Schema, strings.Join(tasks, ","),
		arguments)
}
