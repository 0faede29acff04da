// Package beside runs the jobs of one queue with the real Graphile Worker and with gw.
package beside

import (
	"testing"

	"github.com/gwsql/gw/tests/go/nodegw"
)

func TestMain(m *testing.M) { nodegw.Main(m) }
