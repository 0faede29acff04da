// Package gwrun tests the built gw-run from outside, with real processes and a real PostgreSQL.
package gwrun

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
