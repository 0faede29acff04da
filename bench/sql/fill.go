package main

import "fmt"

const (
	jobsTable   = schema + "._private_jobs"
	queuesTable = schema + "._private_job_queues"
	tasksTable  = schema + "._private_tasks"
)

// fill is a statement that inserts n ready plain jobs, of the last hours, one a millisecond.
func fill(n int) string {
	return insert(n, "run_at", "now() - interval '6 hours' + i * interval '1 ms'")
}

// insert is a statement that inserts n jobs with values for some columns, in which i counts from 1; the other columns get
// their defaults.
func insert(n int, columns, values string) string { return insertFor(task, n, columns, values) }

// insertFor is insert for jobs of another task.
func insertFor(task string, n int, columns, values string) string {
	return fmt.Sprintf("insert into %s (task_id, payload, %s) "+
		"select t.id, json_build_object('number', i), %s from %s as t, generate_series(1, %d) as s (i) where t.identifier = '%s'",
		jobsTable, columns, values, tasksTable, n, task)
}

// addQueues is a statement that adds n idle queues, queue-1 and so on.
func addQueues(n int) string {
	return fmt.Sprintf("insert into %s (queue_name) select 'queue-' || i from generate_series(1, %d) as s (i)", queuesTable, n)
}
