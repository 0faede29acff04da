package gotest

import "testing"

// Callers above READ COMMITTED may be refused with 40001, and with nothing else; all other answers are correct.
func TestCallersAtHigherIsolationLevelsGetTheSameQueue(t *testing.T) {
	for _, isolation := range []string{repeatableRead, serializable} {
		t.Run("keys, "+isolation, keyRace{isolation: isolation, producers: 8, calls: 15, claimers: 3}.run)
		t.Run("queues, "+isolation, queueRace{isolation: isolation, jobs: 150, queues: 3, claimers: 4}.run)
	}
}
