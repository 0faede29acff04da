// Package cron_test tests the recurring jobs of the SQL core: against independent matchers and parsers, and with workers that tick
// concurrently, are killed and restart.
package cron_test

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
