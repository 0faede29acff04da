// Package gwrun drives the built gw-run from outside: real processes, a real PostgreSQL.
package gwrun

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
