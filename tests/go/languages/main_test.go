// Package languages runs the programs of examples/enqueue and examples/work, which docs/enqueue.md and docs/work.md show.
package languages

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
