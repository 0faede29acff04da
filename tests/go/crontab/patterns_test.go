package crontab

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/gwsql/gw/tests/go/nodegw"
)

// patterns is the content of tests/cron_patterns.json.
type patterns struct {
	Valid []struct {
		Pattern                             string
		Minutes, Hours, Dates, Months, Dows []int // nil if every value matches
	}
	Invalid []struct{ Pattern, Message string }
}

func readPatterns(t *testing.T) (table patterns) {
	t.Helper()
	text, err := os.ReadFile("../../cron_patterns.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Valid) == 0 || len(table.Invalid) == 0 {
		t.Fatal("the table is empty")
	}
	return table
}

func TestTheTableOfPatternsIsGraphileWorkers(t *testing.T) {
	table := readPatterns(t)
	var texts []string
	for _, row := range table.Valid {
		texts = append(texts, row.Pattern+" task")
	}
	for _, row := range table.Invalid {
		texts = append(texts, row.Pattern+" task")
	}
	crontabs := nodegw.Crontabs(t, nodegw.V18, texts)
	for i, row := range table.Valid {
		if crontabs[i].Error != "" {
			t.Errorf("%s: %s", row.Pattern, crontabs[i].Error)
			continue
		}
		item := crontabs[i].Items[0]
		got := [][]int{item.Minutes, item.Hours, item.Dates, item.Months, item.Dows}
		want := [][]int{
			or(row.Minutes, 0, 59), or(row.Hours, 0, 23), or(row.Dates, 1, 31), or(row.Months, 1, 12),
			or(row.Dows, 0, 6),
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", row.Pattern, got, want)
		}
	}
	for i, row := range table.Invalid {
		got := crontabs[len(table.Valid)+i].Error
		want := strings.Replace(row.Message, "{source}", "line 1 of crontab", 1)
		if got == "" || want != "" && got != want {
			t.Errorf("%s: got\n%q, want\n%q", row.Pattern, got, want)
		}
	}
}

// or returns values, or if it is nil all values from low to high.
func or(values []int, low, high int) []int {
	if values != nil {
		return values
	}
	for value := low; value <= high; value++ {
		values = append(values, value)
	}
	return values
}
