package terminal

import (
	"errors"
	"strings"
	"testing"
	"testing/iotest"
)

func TestOnlyAYesIsAYes(t *testing.T) {
	for answer, want := range map[string]bool{
		"y\n": true, "YES\n": true, " yes \r\n": true, "y": true, "\n": false, "": false, "no\n": false, "yep\n": false,
	} {
		var out strings.Builder
		got, err := Ask(strings.NewReader(answer), &out, "Go on?")
		if got != want || err != nil || out.String() != "Go on? [y/N] " {
			t.Errorf("%q is %v, error %v, after %q", answer, got, err, out.String())
		}
	}
	gone := errors.New("gone")
	if got, err := Ask(iotest.ErrReader(gone), new(strings.Builder), "Go on?"); got || !errors.Is(err, gone) {
		t.Errorf("no answer is %v, error %v", got, err)
	}
}
