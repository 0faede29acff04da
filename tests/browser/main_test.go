// Package browser looks at the console in a real browser, Debian's chromium-headless-shell.
package browser

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
