package terminal

import (
	"strings"
	"testing"
	"time"
)

func TestTablesLineUp(t *testing.T) {
	type row struct{ name, jobs, note string }
	columns := []Column[row]{
		{Title: "NAME", Cell: func(r row, _ time.Time) string { return r.name }},
		{Title: "JOBS", Numbers: true, Cell: func(r row, _ time.Time) string { return r.jobs }},
		{Title: "NOTE", Cell: func(r row, _ time.Time) string { return r.note }},
	}
	var out strings.Builder
	err := Table(&out, columns, []row{{"größer", "12345", "a\nb"}, {"", "1", ""}}, time.Now())
	const want = "NAME     JOBS  NOTE\ngrößer  12345  a\\nb\n-           1  -\n"
	if err != nil || out.String() != want {
		t.Errorf("error %v, got\n%s, want\n%s", err, out.String(), want)
	}
}

func TestWhatATerminalWouldObeyIsEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"plain ö 🙂":          "plain ö 🙂",
		"a\tb\r\n":           `a\tb\r\n`,
		"\x1b[2J":            `\x1b[2J`,
		"abc\u202etxt\u200b": `abc\u202etxt\u200b`,
		"\u009b31m":          `\u009b31m`,
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q is shown as %s, want %s", text, got, want)
		}
	}
}

func TestLongTextsAreCut(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "12345": "12345", "123456": "1234…", "öäüöäü": "öäüö…", "a\nb": "a…", "12345\n": "12345…",
	} {
		if got := Short(text, 5); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
