package history

import "fmt"

// The tasks of jobs that run in a transaction with their completion: given has a handler that gets the transaction,
// several one that gets it for several jobs, inside is a function in the database. They write a row to the table
// effects, and then now and then fail or end their own session. Direct claimers complete jobs of these tasks, too,
// without a row.
const (
	given   = "given"
	several = "several"
	inside  = "inside"
)

// nameEffects sets the ids of the jobs that had effects. A job keeps the negative number of its request if the answer
// was lost.
func nameEffects(events []*event) {
	rows := map[int64]row{}
	for _, e := range events {
		if e.kind == add {
			for i, r := range e.rows {
				rows[e.specs[i].number] = r
			}
		}
	}
	for _, e := range events {
		if e.code != reported {
			continue
		}
		for i := range e.rows {
			if r, isKnown := rows[-e.rows[i].id]; isKnown {
				e.rows[i].id, e.rows[i].priority, e.rows[i].runAt = r.id, r.priority, r.runAt
			}
		}
		for i, l := range e.leases {
			if r, isKnown := rows[-l.job]; isKnown {
				e.leases[i].job, e.touched[i] = r.id, r.id
			}
		}
	}
}

// checkEffects checks that nothing is left of what a failed handler wrote.
func checkEffects(h *index) []violation {
	var found []violation
	for _, e := range h.events {
		if e.kind != claim || e.code != reported {
			continue
		}
		for _, r := range e.rows {
			if (r.task == given || r.task == several || r.task == inside) && r.numbers[0]%10 == 0 {
				found = append(found, violation{failuresLeaveNothing, fmt.Sprintf("job %d failed and has an effect",
					r.id), []*event{e}, r.id})
			}
		}
	}
	return found
}
