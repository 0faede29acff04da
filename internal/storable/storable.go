// Package storable makes texts that people and programs write, such as reasons and results, storable in a database of
// any encoding, which would refuse a statement with a character that it lacks.
package storable

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// charmaps are the encodings of PostgreSQL with one byte for each character, by their names.
var charmaps = map[string]*charmap.Charmap{
	"LATIN1": charmap.ISO8859_1, "LATIN2": charmap.ISO8859_2, "LATIN3": charmap.ISO8859_3, "LATIN4": charmap.ISO8859_4,
	"LATIN5": charmap.ISO8859_9, "LATIN6": charmap.ISO8859_10, "LATIN7": charmap.ISO8859_13,
	"LATIN8": charmap.ISO8859_14,
	"LATIN9": charmap.ISO8859_15, "LATIN10": charmap.ISO8859_16, "ISO_8859_5": charmap.ISO8859_5,
	"ISO_8859_6": charmap.ISO8859_6,
	"ISO_8859_7": charmap.ISO8859_7, "ISO_8859_8": charmap.ISO8859_8, "KOI8R": charmap.KOI8R, "KOI8U": charmap.KOI8U,
	"WIN866": charmap.CodePage866, "WIN874": charmap.Windows874, "WIN1250": charmap.Windows1250,
	"WIN1251": charmap.Windows1251,
	"WIN1252": charmap.Windows1252, "WIN1253": charmap.Windows1253, "WIN1254": charmap.Windows1254,
	"WIN1255": charmap.Windows1255,
	"WIN1256": charmap.Windows1256, "WIN1257": charmap.Windows1257, "WIN1258": charmap.Windows1258,
}

// hasAll reports whether an encoding, by its name in PostgreSQL, has all characters or does not convert them.
func hasAll(encoding string) bool {
	return encoding == "UTF8" || encoding == "SQL_ASCII" || encoding == ""
}

// In returns a text without what no encoding can store, and with Go's escapes for the characters that this encoding
// lacks.
func In(encoding, text string) string {
	text = strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
	if hasAll(encoding) || isASCII(text) {
		return text
	}
	known := charmaps[encoding]
	var b strings.Builder
	for _, r := range text {
		isKnown := r < utf8.RuneSelf
		if !isKnown && known != nil {
			_, isKnown = known.EncodeRune(r)
		}
		switch {
		case isKnown:
			b.WriteRune(r)
		case r > 0xFFFF:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// JSON returns JSON with escapes for all characters that an encoding may lack.
func JSON(encoding, text string) string {
	if hasAll(encoding) || isASCII(text) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func isASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// Text is an argument of a statement that [Args] makes storable; null if it is empty.
type Text string

// Arg returns the argument for a text, or for null.
func Arg(text any) any {
	if text, ok := text.(string); ok {
		return Text(text)
	}
	return text
}

// Args returns the arguments of a statement with each [Text] as a string. encoding returns the encoding of the
// database; it is called only if that matters.
func Args(args []any, encoding func() (string, error)) ([]any, error) {
	var made []any
	for i, arg := range args {
		text, ok := arg.(Text)
		if !ok {
			continue
		}
		if made == nil {
			made = append([]any(nil), args...)
		}
		name := ""
		if !isASCII(string(text)) {
			var err error
			if name, err = encoding(); err != nil {
				return nil, err
			}
		}
		if made[i] = nil; In(name, string(text)) != "" {
			made[i] = In(name, string(text))
		}
	}
	if made == nil {
		return args, nil
	}
	return made, nil
}
