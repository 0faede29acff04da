package main

import (
	"strings"
	"testing"
)

func TestATableIsAlignedMarkdown(t *testing.T) {
	var out strings.Builder
	r := &report{out: &out}
	var rows table
	rows.add("call", "µs")
	rows.add("claim", "1234")
	r.table(rows)
	const want = "| call  | µs   |\n|-------|------|\n| claim | 1234 |\n\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
