package shim

import "slices"

// leastPart is the number of completed jobs of one claim from which a separate statement for them is worthwhile.
const leastPart = 50

// parts groups completed jobs by their claims, because one lease per statement costs the database less than different
// ones. It reuses its memory.
type parts struct {
	claims [][]outcome
}

// of returns the groups of a batch; claims with few jobs in it share one group. They are valid until letGo.
func (p *parts) of(batch []outcome) (parts [][]outcome) {
	if len(batch) < 2*leastPart {
		return append(parts, batch)
	}
	at := -1
	for _, o := range batch {
		if at < 0 || p.claims[at][0].job.Lease != o.job.Lease { // most belong to the same claim as the previous one
			at = p.find(o.job.Lease)
		}
		p.claims[at] = append(p.claims[at], o)
	}
	var rest []outcome
	for _, claim := range p.claims {
		if len(claim) < leastPart {
			rest = append(rest, claim...)
		} else {
			parts = append(parts, claim)
		}
	}
	if len(rest) > 0 {
		parts = append(parts, rest)
	}
	return parts
}

// letGo releases the jobs. It must be called before the next batch.
func (p *parts) letGo() {
	for i, claim := range p.claims {
		clear(claim)
		p.claims[i] = claim[:0]
	}
}

// find returns the slot of a claim: the one in use for it, or a free one.
func (p *parts) find(lease int64) int {
	at := slices.IndexFunc(p.claims, func(claim []outcome) bool { return len(claim) == 0 || claim[0].job.Lease == lease })
	if at < 0 {
		at = len(p.claims)
		p.claims = append(p.claims, nil)
	}
	return at
}
