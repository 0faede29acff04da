// Package contract holds our functions against Graphile Worker's own: every documented behaviour that can be seen from SQL
// is a scenario, played on a schema that Graphile Worker installed and on ours. Where the two differ, the difference is
// one of a list, with its reason, which docs/compatibility.md repeats.
package contract

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
