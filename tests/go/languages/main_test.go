// Package languages runs the programs of examples/enqueue, examples/work and examples/receive, which docs/enqueue.md,
// docs/work.md and docs/handlers.md show.
package languages

import (
	"flag"
	"fmt"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("the drivers of other languages do what they do on each version of PostgreSQL")
		return
	}
	pgtest.Main(m)
}
