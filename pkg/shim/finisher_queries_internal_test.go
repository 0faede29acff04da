package shim

import (
	"slices"
	"testing"
)

// completedOf returns completed jobs with these leases.
func completedOf(leases ...int64) (batch []outcome) {
	for i, lease := range leases {
		batch = append(batch, outcome{job: &Job{ID: int64(i), Lease: lease}})
	}
	return batch
}

func TestCompletedJobsArePartedByTheirClaims(t *testing.T) {
	few := completedOf(1, 2, 1)
	if got := byClaim(few); len(got) != 1 || len(got[0]) != 3 {
		t.Errorf("a few jobs are written in %d parts", len(got))
	}
	mixed := func(large, small int64) []int64 {
		return slices.Concat(slices.Repeat([]int64{large}, leastPart), slices.Repeat([]int64{small, large + 1},
			leastPart/2),
			slices.Repeat([]int64{large, large + 1}, leastPart))
	}
	for _, leases := range [][]int64{mixed(1, 9), mixed(11, 19), mixed(21, 29)} {
		sizes := make(map[int64]int)
		seen := 0
		parts := byClaim(completedOf(leases...))
		if len(parts) != 3 {
			t.Fatalf("two large claims and a small one are written in %d parts", len(parts))
		}
		for _, part := range parts {
			for _, o := range part {
				sizes[o.job.Lease]++
				if o.job.Lease != part[0].job.Lease {
					t.Errorf("a part has jobs of the claims %d and %d", part[0].job.Lease, o.job.Lease)
				}
			}
			seen += len(part)
		}
		if seen != len(leases) || sizes[leases[0]] != 2*leastPart || sizes[leases[0]+8] != leastPart/2 {
			t.Errorf("%d of %d jobs are in the parts: %v", seen, len(leases), sizes)
		}
	}
}
