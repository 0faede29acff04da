package release

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A function is the signature of a function or procedure in a file of the folder functions.
type function struct {
	object    string // the name in _gw_installed, without the schema: "function _gw_names(text[],bigint)"
	arguments []argument
	results   string
}

type argument struct {
	name     string // and type
	defaults bool
}

// needsDrop reports whether `create or replace` cannot replace f by the later function: it has the same argument types,
// but other argument names, fewer defaults or other results.
func (f function) needsDrop(later function) bool {
	same := func(a, b argument) bool { return a.name == b.name && (!a.defaults || b.defaults) }
	return f.results != later.results || !slices.EqualFunc(f.arguments, later.arguments, same)
}

// functionPattern matches a function in the form in which all of them are written: with the body in dollar quotes,
// followed by a comment.
var functionPattern = regexp.MustCompile(
	`(?sm)^create or replace (?:function|procedure) \{\{\.schema\}\}\.\w+\((.*?)^as \$\$.*?\$\$;\s+` +
		`comment on (function|procedure) \{\{\.schema\}\}\.(\w+\(.*?\)) is`)

// functionsIn returns the functions that a file creates, by their object names.
func functionsIn(text string) map[string]function {
	found := make(map[string]function)
	for _, match := range functionPattern.FindAllStringSubmatch(text, -1) {
		head := regexp.MustCompile(`--[^\n]*`).ReplaceAllString(match[1], "")
		parts := splitOutside(head, ')')
		f := function{object: objectOf(match[2], match[3])}
		for _, text := range splitOutside(parts[0], ',') {
			name, _, defaults := strings.Cut(oneLine(text), " default ")
			if name != "" {
				f.arguments = append(f.arguments, argument{name, defaults})
			}
		}
		rest := oneLine(strings.Join(parts[1:], ")"))
		f.results, _, _ = strings.Cut(rest, " language ")
		found[f.object] = f
	}
	return found
}

// typeNames maps names of types in the sources to the names that PostgreSQL prints.
var typeNames = map[string]string{
	"timestamptz": "timestamp with time zone", "timestamp": "timestamp without time zone",
	"int": "integer", "bool": "boolean", "float8": "double precision",
}

// objectOf returns the name in _gw_installed of a function or procedure with this signature.
func objectOf(kind, signature string) string {
	name, types, _ := strings.Cut(strings.ReplaceAll(signature, "{{.schema}}.", ""), "(")
	printed := regexp.MustCompile(`\s*,\s*`).Split(strings.TrimSuffix(types, ")"), -1)
	for i, text := range printed {
		element, isArray := strings.CutSuffix(text, "[]")
		if full, ok := typeNames[element]; ok {
			printed[i] = full
			if isArray {
				printed[i] += "[]"
			}
		}
	}
	return kind + " " + name + "(" + strings.Join(printed, ",") + ")"
}

// splitOutside splits a text at each separator outside of parentheses and quotes.
func splitOutside(text string, separator rune) (parts []string) {
	depth, start, quoted := 0, 0, false
	for i, r := range text {
		switch {
		case r == '\'':
			quoted = !quoted
		case quoted:
		case r == separator && depth == 0:
			parts = append(parts, text[start:i])
			start = i + 1
		case r == '(':
			depth++
		case r == ')':
			depth--
		}
	}
	return append(parts, text[start:])
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// withoutHeaders returns a file without the comments outside of function bodies, which are not stored in a database.
func withoutHeaders(text string) string {
	var kept []string
	inBody := false
	for line := range strings.Lines(text) {
		if !inBody && (strings.HasPrefix(line, "--") || strings.TrimSpace(line) == "") {
			continue
		}
		if strings.Count(line, "$$")%2 == 1 {
			inBody = !inBody
		}
		kept = append(kept, line)
	}
	return strings.Join(kept, "")
}

// source is the content of the folder functions: its files by their paths.
type source map[string]string

func readSource(folder string) (source, error) {
	files := make(source)
	return files, readSQL(folder, func(path, text string) { files[path] = text })
}

func (s source) functions() map[string]function {
	all := make(map[string]function)
	for _, text := range s {
		maps.Copy(all, functionsIn(text))
	}
	return all
}
