// Package contract compares our functions with Graphile Worker's own: every documented behaviour that is visible from SQL is a
// scenario, which runs on a schema that Graphile Worker installed and on ours. Differences must be in a list, with their reasons, which
// docs/compatibility.md repeats.
package contract

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
