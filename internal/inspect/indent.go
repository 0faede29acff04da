package inspect

import (
	"bytes"
	"encoding/json"
)

// Indent returns JSON with indentation, without changing its numbers and names. Text that is no JSON, and JSON that
// would become more than eight times as long, is returned as it is: six thousand brackets, each inside the one before,
// would need 72 MB of blanks.
func Indent(text string) string {
	var b bytes.Buffer
	if indentedSize(text) > 8*len(text)+1<<16 || json.Indent(&b, []byte(text), "", "  ") != nil {
		return text
	}
	return b.String()
}

// Compact returns JSON without blanks between its parts. Text that is no JSON is returned as it is.
func Compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

// indentedSize returns about how many bytes the indented text has.
func indentedSize(text string) int {
	size, depth := len(text), 0
	inString := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inString = !inString
		case inString && c == '\\':
			i++
		case inString:
		case c == '{' || c == '[':
			depth++
			size += 1 + 2*depth
		case c == ',':
			size += 1 + 2*depth
		case c == '}' || c == ']':
			depth--
			size += 1 + 2*depth
		}
	}
	return size
}
