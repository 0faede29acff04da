// Package engine tests what limits, pauses and named queues have in common: which jobs may start, and that each one does.
package engine

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
