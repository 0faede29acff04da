// Package grants looks at what roles other than the owner may do, by what the server says of their rights and by what
// they get when they try.
package grants

import (
	"flag"
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

var update = flag.Bool("update", false, "rewrite testdata/privileges.txt")

func TestMain(m *testing.M) { pgtest.Main(m) }
