package shim

import "strings"

// maxMessage is the maximum size of an error in last_error, in bytes.
const maxMessage = 64 << 10

const truncated = "\n[truncated]"

// cleanMessage makes text storable: valid UTF-8 without NUL, which PostgreSQL cannot store, and not longer than
// maxMessage.
func cleanMessage(text string) string {
	text = strings.ReplaceAll(text, "\x00", "")
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage-len(truncated)], "") + truncated
	}
	return text
}
