// Package crontab tests that three parsers of cron patterns and crontabs agree: pkg/crontab, the functions in the database, and
// Graphile Worker itself.
package crontab

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
