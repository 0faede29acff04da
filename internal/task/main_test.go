package task_test

import (
	"testing"

	"github.com/gwsql/gw/internal/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
