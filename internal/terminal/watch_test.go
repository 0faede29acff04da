package terminal

import "testing"

func TestAPageIsCutToTheTerminal(t *testing.T) {
	for _, c := range []struct {
		page          string
		width, height int
		want          string
	}{
		{"a\nb\n", 80, 24, "a\nb\n"},
		{"abcd\nabcde\n", 4, 24, "abcd\nabc…\n"},
		{"a\nb\nc\nd\n", 80, 4, "a\nb\n…\n"},
		{"a\nb\nc\n", 80, 4, "a\nb\nc\n"},
		{"ääää\näääää\n", 4, 24, "ääää\näää…\n"},
		{"abcd\n", 0, 0, "abcd\n"},
	} {
		if got := fit(c.page, c.width, c.height); got != c.want {
			t.Errorf("%q in %d x %d becomes %q, want %q", c.page, c.width, c.height, got, c.want)
		}
	}
}
