package crontab

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode/utf16"

	"github.com/titanous/json5"
)

// parseJSON5 converts a JSON5 value on one line to JSON, as JSON5.parse and JSON.stringify of npm's json5 do: numbers
// are those of JavaScript, and numbers that are not finite become null. Members are sorted by name.
//
// The Go package json5 accepts less than npm's, and reads a few things differently. So the lexer normalizes every token
// first, and json5 checks that the tokens form a value.
func parseJSON5(text string) (json.RawMessage, *json5Error) {
	lexer := json5Lexer{text: text}
	wrong := lexer.run()
	lexer.emit("\n", len(text)) // so that an error at the end has a position of its own
	var value any
	err := json5.Unmarshal(lexer.plain, &value)
	if syntax, ok := errors.AsType[*json5.SyntaxError](err); ok {
		origin := lexer.origins[min(int(syntax.Offset), len(lexer.origins))-1]
		if wrong == nil || origin < wrong.offset {
			wrong = newJSON5Error(text, origin)
		}
	}
	if wrong != nil {
		return nil, wrong
	}
	if err != nil {
		return nil, &json5Error{message: "JSON5: " + err.Error()}
	}
	object, err := encode(finite(value))
	if err != nil {
		return nil, &json5Error{message: "JSON5: " + err.Error()}
	}
	return object, nil
}

// finite returns value with nil in place of numbers that are not finite.
func finite(value any) any {
	switch value := value.(type) {
	case float64:
		if math.IsInf(value, 0) || math.IsNaN(value) {
			return nil
		}
	case []any:
		for i := range value {
			value[i] = finite(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = finite(value[name])
		}
	}
	return value
}

// json5Error is an error at a position of a JSON5 value.
type json5Error struct {
	message string
	offset  int // in bytes
}

func (e *json5Error) Error() string { return e.message }

// newJSON5Error returns the error for an unexpected character at an offset, in the wording of npm's json5. Its columns
// count characters as JavaScript does.
func newJSON5Error(text string, offset int) *json5Error {
	column := len(utf16.Encode([]rune(text[:offset]))) + 1
	if offset == len(text) {
		return &json5Error{fmt.Sprintf("JSON5: invalid end of input at 1:%d", column), offset}
	}
	character := []rune(text[offset:])[0]
	column += len(utf16.Encode([]rune{character})) - 1
	return &json5Error{fmt.Sprintf("JSON5: invalid character '%s' at 1:%d", quoted(character), column), offset}
}

// quoted returns a character as npm's json5 prints it.
func quoted(character rune) string {
	if character < ' ' && !strings.ContainsRune("\b\t\n\v\f\r\x00", character) {
		return fmt.Sprintf(`\x%02x`, character)
	}
	return strings.NewReplacer(`'`, `\'`, `"`, `\"`, `\`, `\\`, "\b", `\b`, "\t", `\t`, "\n", `\n`, "\v", `\v`, "\f",
		`\f`,
		"\r", `\r`, "\x00", `\0`).Replace(string(character))
}

// encode returns value as JSON without the escapes for HTML that the standard library adds.
func encode(value any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
