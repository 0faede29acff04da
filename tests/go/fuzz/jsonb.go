package fuzz

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// This file says what jsonb makes of JSON: array payloads merge as jsonb, and only then do its limits and its form apply.

func isArray(json string) bool { return strings.HasPrefix(strings.TrimLeft(json, " \t\r\n"), "[") }

// nesting returns how deep arrays and objects stand in each other.
func nesting(json string) (deepest int) {
	depth, inString := 0, false
	for i := 0; i < len(json); i++ {
		switch c := json[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == '[' || c == '{'):
			depth++
			deepest = max(deepest, depth)
		case !inString && (c == ']' || c == '}'):
			depth--
		}
	}
	return deepest
}

// concatenate returns two valid arrays of JSON as one in the form of jsonb, or the SQLSTATE of what jsonb refuses.
func concatenate(first, second string) (string, string) {
	a, code := normalize(first)
	if code != "" {
		return "", code
	}
	b, code := normalize(second)
	if code != "" {
		return "", code
	}
	if a == "[]" {
		return b, ""
	}
	if b == "[]" {
		return a, ""
	}
	return a[:len(a)-1] + ", " + b[1:], ""
}

// normalize returns valid JSON in the form of jsonb, or the SQLSTATE of what jsonb refuses.
func normalize(json string) (string, string) {
	r := &reader{rest: json}
	value := r.value()
	return value, r.code
}

// reader reads valid JSON.
type reader struct {
	rest string
	code string // the SQLSTATE of the first thing that jsonb refuses
}

// next skips white space and returns the byte after it.
func (r *reader) next() byte {
	r.rest = strings.TrimLeft(r.rest, " \t\r\n")
	return r.rest[0]
}

// refuse notes why jsonb refuses what is read. Reading goes on, for the JSON is valid.
func (r *reader) refuse(code string) {
	if r.code == "" {
		r.code = code
	}
}

func (r *reader) value() string {
	switch c := r.next(); c {
	case '[':
		var elements []string
		r.list(']', func() { elements = append(elements, r.value()) })
		return "[" + strings.Join(elements, ", ") + "]"
	case '{':
		object := map[string]string{}
		r.list('}', func() {
			r.next()
			key := r.string()
			r.next()
			r.rest = r.rest[1:]
			object[key] = r.value()
		})
		return renderObject(object)
	case '"':
		return quote(r.string())
	default:
		end := strings.IndexAny(r.rest, " \t\r\n,]}")
		if end < 0 {
			end = len(r.rest)
		}
		word := r.rest[:end]
		r.rest = r.rest[end:]
		if c == '-' || c >= '0' && c <= '9' {
			return r.number(word)
		}
		return word
	}
}

// list reads an array or object, to whose elements it leads one by one.
func (r *reader) list(end byte, element func()) {
	r.rest = r.rest[1:]
	for r.next() != end {
		if r.rest[0] == ',' {
			r.rest = r.rest[1:]
		}
		element()
	}
	r.rest = r.rest[1:]
}

// string reads a string and returns what its escapes stand for. U+0000 and half a surrogate pair stand for no text.
func (r *reader) string() string {
	var b strings.Builder
	high := rune(0)
	for i := 1; ; i++ {
		c := r.rest[i]
		isEscape := c == '\\' && r.rest[i+1] == 'u'
		if high != 0 && !isEscape {
			r.refuse("22P02")
			high = 0
		}
		switch {
		case c == '"':
			r.rest = r.rest[i+1:]
			return b.String()
		case isEscape:
			u, _ := strconv.ParseUint(r.rest[i+2:i+6], 16, 16)
			char := rune(u)
			i += 5
			isHigh, isLow := char>>10 == 0xd800>>10, char>>10 == 0xdc00>>10
			switch {
			case isLow != (high != 0):
				r.refuse("22P02")
			case isHigh:
				high = char
				continue
			case isLow:
				b.WriteRune(utf16.DecodeRune(high, char))
			case char == 0:
				r.refuse("22P05")
			default:
				b.WriteRune(char)
			}
			high = 0
		case c == '\\':
			i++
			b.WriteByte(map[byte]byte{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', '"': '"', '\\': '\\', '/': '/'}[r.rest[i]])
		default:
			_, size := utf8.DecodeRuneInString(r.rest[i:])
			b.WriteString(r.rest[i : i+size])
			i += size - 1
		}
	}
}

// number returns a number as numeric prints it: without an exponent, with the decimals that were given.
func (r *reader) number(word string) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(word), "e")
	shift := 0
	if exponent != "" {
		var err error
		if shift, err = strconv.Atoi(exponent); err != nil || shift > 100_000 || shift < -10_000 {
			r.refuse("22003")
			return "0"
		}
	}
	digits, isNegative := strings.CutPrefix(mantissa, "-")
	whole, decimals, _ := strings.Cut(digits, ".")
	digits = whole + decimals
	point := len(whole) + shift
	switch {
	case point <= 0:
		digits, point = strings.Repeat("0", 1-point)+digits, 1
	case point > len(digits):
		digits += strings.Repeat("0", point-len(digits))
	}
	isZero := strings.Trim(digits, "0") == ""
	whole, decimals = strings.TrimLeft(digits[:point], "0"), digits[point:]
	if whole == "" {
		whole = "0"
	}
	if decimals != "" {
		whole += "." + decimals
	}
	if isNegative && !isZero {
		whole = "-" + whole
	}
	return whole
}

// renderObject prints rendered values under their keys: short keys first, then by their bytes.
func renderObject(object map[string]string) string {
	keys := slices.SortedFunc(maps.Keys(object), func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	members := make([]string, len(keys))
	for i, key := range keys {
		members[i] = quote(key) + ": " + object[key]
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// quote escapes no more of a string than JSON demands.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, char := range s {
		switch char {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteRune(char)
		case '\b':
			b.WriteString(`\b`)
		case '\f':
			b.WriteString(`\f`)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		default:
			if char < ' ' {
				fmt.Fprintf(&b, `\u%04x`, char)
			} else {
				b.WriteRune(char)
			}
		}
	}
	b.WriteByte('"')
	return b.String()
}
