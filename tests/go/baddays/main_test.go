// Package baddays gives workers bad days: servers that crash, fail over, fill up and refuse; networks that stall and lie;
// kills without end. Real processes, real PostgreSQL, and an account of every job: none lost, none run twice without a
// reason.
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
