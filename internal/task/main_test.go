package task_test

import (
	"testing"
	"time"

	"github.com/gwsql/gw/internal/pgtest"
)

// patience is how long a test waits for what must happen. It is long because it only matters when a test fails.
const patience = 2 * time.Minute

func TestMain(m *testing.M) { pgtest.Main(m) }
