package history

import (
	"slices"
	"strings"
)

// exception is a defect outside of gw: of Graphile Worker, if one of its workers is among the claimers, or of
// PostgreSQL.
type exception string

const (
	// It deletes completed jobs by id, even if another worker holds the job by then: the outcome of that worker finds
	// no job, and a request that came in the meantime is lost.
	unfencedDelete exception = "Node completes jobs that it does not hold any more"

	// It returns a batch in the order in which its update found the rows.
	unorderedBatch exception = "Node's batches have no order"

	// If the transaction that locks a row ends while SKIP LOCKED checks the row, PostgreSQL follows the row to its new
	// version and waits for a lock on that one. Such a claim may be part of a deadlock, and is then rolled back.
	skipLockedWaits exception = "SKIP LOCKED of PostgreSQL waits for the new version of a row"
)

// isNode reports whether a worker's name is one that Graphile Worker gives itself.
func isNode(worker string) bool { return strings.HasPrefix(worker, "pool-") }

// excuse returns the exception that explains a violation, "" if there is none.
func excuse(h *index, v violation) exception {
	byNode := slices.ContainsFunc(v.events, func(e *event) bool { return e.kind == claim && isNode(e.worker) })
	switch v.rule {
	case everyCallIsPolite:
		if e := v.events[0]; e.kind == claim && e.code == "40P01" &&
			strings.Contains(e.detail, "while locking updated version") {
			return skipLockedWaits
		}
	case urgentFirst:
		if byNode {
			return unorderedBatch
		}
	case noRequestIsLost, aLeaseIsOneClaim:
		if j := h.jobs[v.job]; j != nil && slices.ContainsFunc(j.claims, h.isLateNode) {
			return unfencedDelete
		}
	}
	return ""
}

// isLateNode reports whether Node may have completed a job that it no longer held.
func (h *index) isLateNode(c *claimed) bool {
	return isNode(c.lease.worker) &&
		slices.ContainsFunc(c.ends, func(e *event) bool { return e.kind == unlock }) &&
		slices.ContainsFunc(c.ends, func(e *event) bool { return e.kind == complete })
}
