package reference

import (
	"strings"
	"testing"

	"github.com/gwsql/gw/bench/internal/queue"
)

func TestStatementsAreReadByNameAndFilledIn(t *testing.T) {
	parsed, err := parseStatements("-- About the file.\n-- Each begins with -- name: NAME\n\n-- name: one\n-- $1: something\nselect 1\n\n-- name: two\nselect {{.n}} from {{.schema}}.t\n")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"one": "-- $1: something\nselect 1", "two": "select 7 from " +
		queue.Schema + ".t"} {
		if got, err := parsed.text(name, 7); err != nil || got != want {
			t.Errorf("%s is %q, want %q: %v", name, got, want, err)
		}
	}
	if len(parsed) != 2 {
		t.Errorf("there are %d statements, want 2", len(parsed))
	}
	if _, err := parsed.text("three", 7); err == nil {
		t.Error("want an error for a name that is not there")
	}
}

func TestAFileOfStatementsIsRefusedIfItIsWrong(t *testing.T) {
	for why, file := range map[string]string{
		"two of a name":     "-- name: one\nselect 1\n-- name: one\nselect 2\n",
		"a broken template": "-- name: one\nselect {{.n\n",
	} {
		if _, err := parseStatements(file); err == nil {
			t.Errorf("want an error for %s", why)
		}
	}
	parsed, err := parseStatements("-- name: one\nselect {{.number}}\n")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := parsed.text("one", 7); err == nil {
		t.Errorf("want an error for an unknown value, got %q", got)
	}
}

func TestTheReferenceHasItsStatementsWithTheBatchSizeInThem(t *testing.T) {
	parsed, err := parseStatements(referenceSQL)
	if err != nil {
		t.Fatal(err)
	}
	claim, err := parsed.text("claim", 123)
	if err != nil || !strings.Contains(claim, "limit 123") || strings.Contains(claim, "delete from") {
		t.Errorf("claim: %v\n%s", err, claim)
	}
	complete, err := parsed.text("complete", 123)
	if err != nil || !strings.Contains(complete, "delete from "+queue.JobsTable) {
		t.Errorf("complete: %v\n%s", err, complete)
	}
}
