// Package cron_test drives the recurring jobs of the SQL core: against matchers and parsers written apart, and with
// workers that tick at once, die and come back.
package cron_test

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
