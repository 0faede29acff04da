package shim

import (
	"sync/atomic"
	"testing"
)

func TestOthersClaimForTheSlotsOfBatches(t *testing.T) {
	slots := NewSlots(3)
	a, b := slots.join(newSignal(), &atomic.Bool{}), slots.join(newSignal(), &atomic.Bool{})
	if !a.acquire(nil) || !a.acquireForBatch(nil) || !b.acquireForBatch(nil) {
		t.Fatal("no slot")
	}
	if used := b.usedByOthers(); used != 1 {
		t.Errorf("others use %d slots, want the one of a job", used)
	}
	if used := a.usedByOthers(); used != 0 {
		t.Errorf("others use %d slots, want none, as the other one runs a batch", used)
	}
	a.releaseBatch()
	b.releaseBatch()
	if used := b.usedByOthers(); used != 1 {
		t.Errorf("others use %d slots, want the one of a job", used)
	}
}
