package history

import (
	"slices"
	"strings"
)

// exception is a defect that is not ours: of Graphile Worker, which shows when one of its workers is among the claimers,
// or of PostgreSQL.
type exception string

const (
	// It deletes what it has done by id, whoever holds the job by then: the outcome of who does finds nothing, and a
	// request that came meanwhile is lost.
	unfencedDelete exception = "Node completes jobs that it does not hold any more"

	// It returns a batch as its update happened to find the rows.
	unorderedBatch exception = "Node's batches have no order"

	// When the session that holds a row ends just while SKIP LOCKED looks at it, PostgreSQL goes on to the row's new version
	// and there waits for whoever holds that. A claim that so waits may be part of a deadlock; it is then undone.
	skipLockedWaits exception = "SKIP LOCKED of PostgreSQL waits for the new version of a row"
)

// isNode reports whether a worker's name is one that Graphile Worker gives itself.
func isNode(worker string) bool { return strings.HasPrefix(worker, "pool-") }

// excuse returns the exception that a violation falls under, empty if there is none.
func excuse(h *index, v violation) exception {
	byNode := slices.ContainsFunc(v.events, func(e *event) bool { return e.kind == claim && isNode(e.worker) })
	switch v.rule {
	case everyCallIsPolite:
		if e := v.events[0]; e.kind == claim && e.code == "40P01" && strings.Contains(e.detail, "while locking updated version") {
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

// isLateNode reports whether Node may have completed a job after it was taken away from it.
func (h *index) isLateNode(c *claimed) bool {
	return isNode(c.lease.worker) &&
		slices.ContainsFunc(c.ends, func(e *event) bool { return e.kind == unlock }) &&
		slices.ContainsFunc(c.ends, func(e *event) bool { return e.kind == complete })
}
