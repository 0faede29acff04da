package fuzz

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// This file models JSON: arrays of batch jobs are concatenated as they were written; flags have the form of jsonb.

func isArray(json string) bool { return strings.HasPrefix(strings.TrimLeft(json, " \t\r\n"), "[") }

// nesting returns the maximum depth of nested arrays and objects.
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

// concatenate joins two valid JSON arrays into one; the elements remain as they were written.
func concatenate(first, second string) string {
	const space = " \t\r\n"
	front := strings.TrimSuffix(strings.TrimRight(first, space), "]")
	back := strings.TrimPrefix(strings.TrimLeft(second, space), "[")
	switch {
	case strings.Trim(front, space) == "[":
		return second
	case strings.Trim(back, space) == "]":
		return first
	}
	return front + ", " + back
}

// renderObject renders an object of rendered values, sorted as in jsonb: short keys first, then by their bytes.
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

// quote escapes only the characters of a string that JSON requires to be escaped.
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
