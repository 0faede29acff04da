package report

import (
	"strings"
	"testing"
)

func TestATableIsMarkdown(t *testing.T) {
	var out strings.Builder
	r := New(&out)
	var rows Table
	rows.Add("call", "µµµµs")
	rows.Add("claim", "12")
	r.Table(rows)
	const want = "|call|µµµµs|\n|---|---|\n|claim|12|\n\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
