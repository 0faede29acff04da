package main

import (
	"strings"
	"testing"
)

func TestATableIsAlignedMarkdown(t *testing.T) {
	var out strings.Builder
	r := &report{out: &out}
	var rows table
	rows.add("call", "µµµµs")
	rows.add("claim", "12")
	r.table(rows)
	const want = "| call  | µµµµs |\n|-------|-------|\n| claim | 12    |\n\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
