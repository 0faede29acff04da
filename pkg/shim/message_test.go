package shim

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMessagesAreMadeStorable(t *testing.T) {
	if got := cleanMessage("a\x00b\xffc"); got != "ab\uFFFDc" {
		t.Errorf("got %q", got)
	}
	long := cleanMessage(strings.Repeat("→", maxMessage))
	if len(long) > maxMessage || len(long) < maxMessage-3 || !utf8.ValidString(long) ||
		!strings.HasSuffix(long, truncated) {
		t.Errorf("a long message has %d bytes and ends with %q", len(long), long[len(long)-20:])
	}
}
