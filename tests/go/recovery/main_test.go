// Package recovery lets workers die, pause and lose their database: real processes, a real PostgreSQL.
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
