// Package shards tests several shards at once, with real servers and real programs: workers, a server and movers are killed
// while slots are moved and jobs are added by clients with an old map. The tests check every job: none is lost, none runs twice
// unless its worker was killed, and each named queue runs in order, in one shard at a time.
package shards

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) {
	if !runAsTask() {
		pgtest.Main(m)
	}
}
