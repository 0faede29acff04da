// Package crontab holds three readers of cron patterns and crontabs to one grammar: pkg/crontab, the functions in the
// database, and Graphile Worker itself.
package crontab

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
