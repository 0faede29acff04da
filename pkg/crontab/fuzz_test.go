package crontab_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gwsql/gw/pkg/crontab"
)

// For any text, each problem has a position in the text, and the items can be sent to the database.
func FuzzCheck(f *testing.F) {
	for _, text := range []string{
		"", "* * * * * a", "\uFEFF# x\r\n0,1-2,*/3 7 * 1 0-7 a:b/c ?id=d&fill=1w2d&jobKey=%41+%zz {e: [0x1, 'f', /**/], 'g': 1,}",
		"60 5-1 */0 1-5/2 , a", "* * * * * a\n* * * * * a ?max=0&max&x&tz=é&job_key=\n* * * * * b {a: '\\u12}",
		"* * * * * \xff {\"\xff\"}",
		"* * * * * a {\\u0061\u2003: \"\\ud83d\\ude00\\x41\", b: .5e-3, c: -Infinity, d: 0xFFFFFFFFFFFFFFFFF, e: NaN} // }",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		report := crontab.Check(text)
		lines := strings.Split(text, "\n")
		line := 1
		for _, problem := range report.Problems {
			if problem.Line < line || problem.Line > len(lines) {
				t.Fatalf("line %d: the lines are out of order, or there is no such line", problem.Line)
			}
			line = problem.Line
			if length := utf8.RuneCountInString(lines[line-1]); problem.Column < 1 || problem.Column > length+1 {
				t.Fatalf("%v: the line has %d characters", problem, length)
			}
		}
		encoded, err := json.Marshal(report.Items)
		if err != nil {
			t.Fatal(err)
		}
		if !json.Valid(encoded) || !utf8.Valid(encoded) {
			t.Fatalf("not JSON: %s", encoded)
		}
		for _, item := range report.Items {
			if strings.Join(strings.Fields(item.Pattern), " ") != item.Pattern ||
				len(strings.Fields(item.Pattern)) != 5 {
				t.Fatalf("the pattern is %q", item.Pattern)
			}
			if item.Payload != nil && !strings.HasPrefix(string(item.Payload), "{") {
				t.Fatalf("the payload is %s", item.Payload)
			}
		}
	})
}
