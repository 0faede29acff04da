// Package languages runs the programs of examples/enqueue, examples/work and examples/receive, which docs/enqueue.md,
// docs/work.md and docs/handlers.md show.
package languages

import (
	"fmt"
	"os"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

// languagesVariable is an environment variable that is set if the other languages are installed.
const languagesVariable = "GW_TEST_LANGUAGES"

func TestMain(m *testing.M) {
	if os.Getenv(languagesVariable) == "" {
		fmt.Println("make test-languages installs the other languages and runs these tests")
		return
	}
	pgtest.Main(m)
}
