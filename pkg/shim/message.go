package shim

import "strings"

// maxMessage is how many bytes of an error are stored in last_error.
const maxMessage = 64 << 10

const truncated = "\n[truncated]"

// cleanMessage makes text storable: no NUL, which PostgreSQL has no room for, valid UTF-8, and not longer than
// maxMessage.
func cleanMessage(text string) string {
	text = strings.ReplaceAll(text, "\x00", "")
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage-len(truncated)], "") + truncated
	}
	return text
}
