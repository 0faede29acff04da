package release

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

var (
	internalPattern = regexp.MustCompile(
		`(?m)^((?:--.*\n)+)create or replace (function|procedure) \{\{\.schema\}\}\.(_gw_\w+)\(`)
	bodyPattern = regexp.MustCompile(`(?m)^as (\$\w*\$)`)
	sentence    = regexp.MustCompile(`^.*?[.](?:\s|$)`)
)

// WithComments returns a file with a `comment on` after each internal function (_gw_...) that has none: the first
// sentence of the comment above it.
func WithComments(text string) string {
	var b strings.Builder
	for {
		match := internalPattern.FindStringSubmatchIndex(text)
		if match == nil {
			break
		}
		end := bodyEnd(text, match[1])
		header, kind, name := text[match[2]:match[3]], text[match[4]:match[5]], text[match[6]:match[7]]
		types := argumentTypes(splitOutside(text[match[1]:], ')')[0])
		b.WriteString(text[:end])
		text = text[end:]
		if !strings.HasPrefix(text, "\ncomment on ") {
			fmt.Fprintf(&b, "\ncomment on %s {{.schema}}.%s(%s) is '%s';\n", kind, name, types, summary(header))
		}
	}
	return b.String() + text
}

// bodyEnd returns where the statement ends whose function has its head at start.
func bodyEnd(text string, start int) int {
	body := bodyPattern.FindStringSubmatchIndex(text[start:])
	if body == nil {
		return len(text)
	}
	quote := text[start+body[2] : start+body[3]]
	end := strings.Index(text[start+body[1]:], quote+";\n")
	if end < 0 {
		return len(text)
	}
	return start + body[1] + end + len(quote+";\n")
}

// argumentTypes returns the types of the arguments with which a function is called, from the list of its head.
func argumentTypes(list string) string {
	list = regexp.MustCompile(`--[^\n]*`).ReplaceAllString(list, "")
	var types []string
	for _, text := range splitOutside(strings.TrimPrefix(list, "("), ',') {
		text, _, _ = strings.Cut(oneLine(strings.TrimPrefix(text, ",")), " default ")
		mode, rest, _ := strings.Cut(text, " ")
		if mode == "inout" || mode == "variadic" {
			_, rest, _ = strings.Cut(rest, " ")
		}
		if rest != "" && mode != "out" {
			types = append(types, rest)
		}
	}
	return strings.Join(types, ", ")
}

// summary returns the first sentence of the comment lines above a function, for a string literal.
func summary(header string) string {
	text := oneLine(strings.ReplaceAll("\n"+header, "\n--", "\n"))
	if first := sentence.FindString(text); first != "" {
		text = strings.TrimSpace(first)
	}
	if r := []rune(text); len(r) > 1 && !unicode.IsUpper(r[1]) {
		text = string(unicode.ToLower(r[0])) + string(r[1:])
	}
	return "Internal: " + strings.ReplaceAll(text, "'", "''")
}
