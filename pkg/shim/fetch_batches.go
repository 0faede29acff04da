package shim

import (
	"cmp"
	"context"
	"fmt"
)

// mindBatches ends batches that must not run now, and deletes the records of those that have ended.
func (f *fetcher) mindBatches(stop context.Context) {
	if f.alone != noneWaits || f.runsAlone {
		f.backlog.stopAllBatching() // the worker may have to run a suspect without any other job
	}
	slots := f.backlog.recordsToDelete()
	if len(slots) == 0 {
		return
	}
	err := f.queries.leaveBatches(context.WithoutCancel(stop), slots)
	if err != nil {
		f.queries.warn(f.logger, "records of batches could not be deleted", fmt.Errorf("leave batches: %w", err))
	}
	f.backlog.deletedRecords(slots, err)
}

// startBatching lets tasks run in batches if a claim shows that there are many jobs of them that batches may have: all of a
// full claim's jobs of that task are, and they are half of it at least. A claim with others of its jobs shows that those
// are due first.
func (f *fetcher) startBatching(set *taskSet, jobs []*Job, full bool) {
	if !set.batchable {
		return
	}
	counts, firsts, others := make(map[string]int), make(map[string]*Job), make(map[string]bool)
	for _, job := range jobs {
		if counts[job.TaskIdentifier]++; counts[job.TaskIdentifier] == 1 {
			firsts[job.TaskIdentifier] = job
		}
		if !job.fitsBatch() {
			others[job.TaskIdentifier] = true
		}
	}
	for name, count := range counts {
		task := set.byName[name]
		if !task.isBatchable() {
			continue
		}
		f.backlog.claimed(name, count)
		if full && 2*count >= len(jobs) && !others[name] && f.alone == noneWaits && !f.runsAlone {
			f.backlog.startBatching(name, f.mostBatches(task), firsts[name])
		}
	}
}

// mostBatches returns how many batches of a task may run at once, 0 for the worker's concurrency. A batch whose handlers
// are given the transaction leaves one connection of the pool to them, in case they need it to return.
func (f *fetcher) mostBatches(task task) int {
	if task.inServer != nil {
		return task.limit
	}
	limit := cmp.Or(task.limit, f.backlog.pace.concurrency)
	return min(limit, max(1, int(f.queries.worker.pool.Stat().MaxConns())-1))
}

// fitsBatch reports whether the job may have been part of a batch.
func (j *Job) fitsBatch() bool {
	return j.Key == "" && j.QueueName == "" && j.Flags == nil && j.Attempts == 1 && len(j.Payload) <= mostBatchPayload
}

// mostBatchPayload is the maximum size of the payload of a job in a batch, as in the SQL function _gw_fits_batch.
const mostBatchPayload = 8192
