package crontab_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/gwsql/gw/pkg/crontab"
)

// The table also holds the database, and Graphile Worker itself, to the same grammar: see tests/go/crontab.
func TestPatternsAreThoseOfTheTable(t *testing.T) {
	text, err := os.ReadFile("../../tests/cron_patterns.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Valid   []struct{ Pattern string }
		Invalid []struct{ Pattern, Message string }
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Valid) == 0 || len(table.Invalid) == 0 {
		t.Fatal("the table is empty")
	}
	for _, row := range table.Valid {
		items, err := crontab.Parse(row.Pattern + " task")
		if err != nil || items[0].Pattern != row.Pattern {
			t.Errorf("%s: got %v and %v", row.Pattern, items, err)
		}
	}
	for _, row := range table.Invalid {
		_, err := crontab.Parse(row.Pattern + " task")
		var wrong *crontab.Error
		if !errors.As(err, &wrong) {
			t.Errorf("%s: got the error %v", row.Pattern, err)
			continue
		}
		want := strings.Replace(row.Message, "{source}", "line 1 of crontab", 1)
		if want != "" && wrong.Problems[0].Message != want {
			t.Errorf("%s: got\n%s, want\n%s", row.Pattern, wrong.Problems[0].Message, want)
		}
	}
}

func TestAProblemInAFieldIsWhereItsPartBegins(t *testing.T) {
	for text, column := range map[string]int{
		"1,2,60,3 * * * * task":   5,
		"\t1,2,60,3 * * * * task": 6,
		"*  1-5,24 * * * task":    8,
		", * * * * task":          1,
		"1, * * * * task":         3,
		"0 0 * * 0-8 task":        9,
	} {
		report := crontab.Check(text)
		if len(report.Problems) == 0 || report.Problems[0].Column != column {
			t.Errorf("%q: got %v, want column %d", text, report.Problems, column)
		}
	}
}
