// Package engine tests what limits, pauses and named queues have in common: which jobs may start, and that each one
// does.
package engine

import (
	"fmt"
	"os"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) {
	if database := os.Getenv(workerVariable); database != "" {
		if err := workAlone(database); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	pgtest.Main(m)
}
