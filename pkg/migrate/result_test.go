package migrate_test

import (
	"fmt"
	"testing"

	"github.com/gwsql/gw/pkg/migrate"
)

func TestAResultIsPrintedWithoutItsSQL(t *testing.T) {
	result := migrate.Result{Before: 0, After: 2, Applied: []migrate.Migration{{Name: "000001_a.sql", SQL: "create"},
		{Name: "000002_b.sql", SQL: "create"}}}
	const want = "version 0 to 2, applied: 000001_a.sql, 000002_b.sql"
	if got := fmt.Sprintf("%+v", result); got != want || result.LogValue().String() != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := (migrate.Result{Before: 2, After: 2}).String(); got != "version 2 to 2, applied: nothing" {
		t.Error(got)
	}
}
