// Package grants tests the rights of roles other than the owner, by the server's catalogue and by using them.
package grants

import (
	"flag"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

var update = flag.Bool("update", false, "rewrite testdata/privileges.txt")

func TestMain(m *testing.M) { pgtest.Main(m) }
