// Package baddays tests workers under failures: servers that crash, fail over, run out of disk space and refuse connections;
// networks that stall and lose connections; repeated kills. The tests use real processes and a real PostgreSQL, and check every
// job: none is lost, and none runs twice without a reason.
package baddays

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) {
	if !runAsWorker() && !runAsProgram() {
		pgtest.Main(m)
	}
}
