// Package recovery tests workers that are killed, paused or lose their database, with real processes and a real PostgreSQL.
package recovery

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) {
	if !runAsWorker() {
		pgtest.Main(m)
	}
}
