// Package limits tests set_limit and pause with many claimers at once.
package limits

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
