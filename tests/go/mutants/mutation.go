package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

// folders are those of sql/functions whose functions are changed.
var folders = []string{"claim", "lanes", "limits", "report", "lease", "fleet", "work"}

// A mutant is one function with one mistake.
type mutant struct {
	file     string
	line     int
	function string
	rule     string
	broken   string // the changed line, for the table of survivors
	sql      string // creates the function
}

func (m *mutant) String() string {
	return fmt.Sprintf("%s:%d: %s: %s: %s", m.file, m.line, m.function, m.rule, m.broken)
}

// key names a mutant whatever is above it in its file.
func (m *mutant) key() string { return m.function + ": " + m.broken }

// A rule finds what to change in code, whose comments and strings are blank; a change replaces code[from:to].
type rule struct {
	name string
	find func(code string) []change
}

type change struct {
	from, to int
	text     string
}

var (
	operator = regexp.MustCompile(`[-+*/<>=~!@#%^&|?]+`)
	swapped  = map[string]string{"<": "<=", "<=": "<", ">": ">=", ">=": ">", "least": "greatest", "greatest": "least"}
)

var rules = []rule{
	{"another comparison", func(code string) (all []change) {
		for _, at := range operator.FindAllStringIndex(code, -1) {
			if to := swapped[code[at[0]:at[1]]]; to != "" {
				all = append(all, change{at[0], at[1], to})
			}
		}
		return all
	}},
	replacing("no 1 added or taken", `[-+] 1\b(?:[^.]|$)`, 3, func(string) string { return "" }),
	replacing("least and greatest", `\b(?:least|greatest)\(`, -1, func(was string) string { return swapped[was] }),
	replacing("no skip locked", `\bskip locked\b`, 0, func(string) string { return "" }),
	replacing("no notification", `(?s)\bperform [^;]*?(?:_gw_wake\w*|pg_notify|_gw_notify\w*)\([^;]*;`, 0,
		func(string) string { return "null;" }),
	replacing("no end", `\binsert into \{\{\.schema\}\}\._gw_gate_ends\b`, 0, func(was string) string {
		return strings.Replace(was, "{{.schema}}._gw_gate_ends", "public.no_ends", 1)
	}),
	{"no exclusion", func(code string) (all []change) {
		for _, at := range regexp.MustCompile(`(?i)\band not exists\s*\(`).FindAllStringIndex(code, -1) {
			if to := closing(code, at[1]); to > 0 {
				all = append(all, change{at[0], to, ""})
			}
		}
		return all
	}},
}

// replacing replaces what an expression finds: its first bytes, all (0), or all but its last bytes (negative).
func replacing(name, expression string, bytes int, by func(string) string) rule {
	found := regexp.MustCompile(expression)
	return rule{name, func(code string) (all []change) {
		for _, at := range found.FindAllStringIndex(code, -1) {
			to := at[1]
			if bytes > 0 {
				to = at[0] + bytes
			} else {
				to += bytes
			}
			all = append(all, change{at[0], to, by(code[at[0]:to])})
		}
		return all
	}}
}

// closing returns the end of a parenthesis that is open at a place, or 0.
func closing(code string, from int) int {
	depth := 1
	for at := from; at < len(code); at++ {
		switch code[at] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return at + 1
			}
		}
	}
	return 0
}

var (
	definition = regexp.MustCompile(`(?ms)^create or replace (?:function|procedure) \{\{\.schema\}\}\.(\w+)\(.*?^as \$\$\n(.*?)^\$\$;`)
	unread     = regexp.MustCompile(`--[^\n]*|'(?:\{\{[^}]*\}\}|''|[^'])*'`) // comments and strings
)

// mutants returns all mutants of the functions in these folders.
func mutants(files fs.FS) (all []*mutant, err error) {
	for _, folder := range folders {
		paths, err := fs.Glob(files, path.Join("functions", folder, "*.sql"))
		if err != nil {
			return nil, err
		}
		for _, file := range paths {
			content, err := fs.ReadFile(files, file)
			if err != nil {
				return nil, err
			}
			more, err := ofFile("sql/"+file, string(content))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			all = append(all, more...)
		}
	}
	return all, nil
}

func ofFile(file, text string) (all []*mutant, err error) {
	for _, at := range definition.FindAllStringSubmatchIndex(text, -1) {
		body := text[at[4]:at[5]]
		code := unread.ReplaceAllStringFunc(body, func(blank string) string {
			return regexp.MustCompile(`[^\n]`).ReplaceAllString(blank, " ")
		})
		for _, r := range rules {
			for _, c := range r.find(code) {
				changed := body[:c.from] + c.text + body[c.to:]
				sql, err := render(text[at[0]:at[4]] + changed + text[at[5]:at[1]])
				if err != nil {
					return nil, err
				}
				all = append(all, &mutant{
					file: file, line: 1 + strings.Count(text[:at[4]+c.from], "\n"), function: text[at[2]:at[3]],
					rule:   r.name,
					broken: lineAt(changed, c.from), sql: sql,
				})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *mutant) int { return cmp.Compare(a.line, b.line) })
	return all, nil
}

// lineAt returns the line around a place, without the spaces around it; if nothing else is in it, with the line before.
func lineAt(text string, at int) string {
	from := strings.LastIndex(text[:at], "\n") + 1
	line, _, _ := strings.Cut(text[from:], "\n")
	if words := strings.TrimSpace(line); strings.Trim(words, "(); ") != "" || from == 0 {
		return words
	}
	return lineAt(text, from-1) + " ... " + strings.TrimSpace(line)
}

func render(sql string) (string, error) {
	parsed, err := template.New("").Funcs(template.FuncMap{"replace": func(old, by,
		s string) string {
		return strings.ReplaceAll(s, old, by)
	}}).Parse(sql)
	if err != nil {
		return "", err
	}
	var rendered strings.Builder
	err = parsed.Execute(&rendered, map[string]any{"schema": `"graphile_worker"`})
	return rendered.String(), err
}
