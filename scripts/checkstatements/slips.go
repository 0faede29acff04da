package main

import (
	"regexp"
	"slices"
	"strings"
)

// lexemes matches strings, quoted names, comments, numbers and parameters, names, operators, and punctuation.
var lexemes = regexp.MustCompile(`'(?:[^']|'')*'|"[^"]*"|--[^\n]*|\$?[0-9]+(?:\.[0-9]+)?|[A-Za-z_%][\w%]*|::|=>|[-+*/<>=~!@#^&|?]+|\s+|.`)

var (
	name     = regexp.MustCompile(`^[A-Za-z_%"]`)
	operator = regexp.MustCompile(`^[-+*/<>=~!@#^&|?]+$`)
)

// words are key words that may be followed by a parenthesis or a string.
var words = strings.Fields(`all any array as by coalesce cross else exists extract filter from greatest in join lateral least
	materialized not on or and over returning row select set some then union values when where with within operator zone`)

// operatorWords are key words that stand for operators, which depend on the search_path.
var operatorWords = strings.Fields(`between ilike in like nullif overlaps similar`)

// ownTypes are names of types that are part of SQL, so that they do not depend on the search_path. In casts to the completed
// types, package statement adds pg_catalog.
var (
	ownTypes  = strings.Fields(`bigint boolean double integer interval numeric real smallint time timestamp`)
	completed = strings.Fields(`json jsonb text timestamptz`)
)

// slips returns the names in a statement that are not qualified.
func slips(statement string) (found []string) {
	s := &scanner{}
	for _, text := range lexemes.FindAllString(statement, -1) {
		if strings.TrimSpace(text) == "" || strings.HasPrefix(text, "--") {
			s.apart = true
			continue
		}
		if slip := s.next(text); slip != "" {
			found = append(found, slip)
		}
		s.lexemes = append(s.lexemes, text)
		s.apart = false
	}
	return found
}

// scanner keeps the preceding lexemes.
type scanner struct {
	lexemes []string
	apart   bool // whether white space separates the lexeme from the last one
}

// back returns the nth of the last lexemes.
func (s *scanner) back(n int) string {
	if n > len(s.lexemes) {
		return ""
	}
	return s.lexemes[len(s.lexemes)-n]
}

// next returns the name that is not qualified, if this lexeme shows that, otherwise "".
func (s *scanner) next(text string) string {
	last, isQualified := s.back(1), s.back(2) == "."
	switch {
	case text == "(" && !s.apart && name.MatchString(last) && !isQualified && !slices.Contains(words, last):
		return "function " + last
	case strings.HasPrefix(text, "'") && name.MatchString(last) && !slices.Contains(words, last) &&
		!slices.Contains(ownTypes, last):
		return "type " + last
	case last == "::" && name.MatchString(text) && !slices.Contains(ownTypes, text) &&
		!slices.Contains(completed, text) &&
		text != "pg_catalog" && text != "S":
		return "type " + text
	case slices.Contains(completed, text) && name.MatchString(last) && last != "as": // the type of a column
		return "type " + text
	case operator.MatchString(text) && s.isApplied(text):
		return "operator " + text
	case slices.Contains(operatorWords, text) && last != ".":
		return "the word " + text
	case last == "case" && text != "when", text == "distinct" && (last == "is" || s.back(2) == "is"):
		return "the words " + last + " " + text
	case strings.HasPrefix(text, "pg_") && text != "pg_catalog" && last != ".":
		return "name " + text
	}
	return ""
}

// isApplied reports whether a lexeme is an operator and not another use of its signs, as in select *, operator(pg_catalog.=) and
// -1.
func (s *scanner) isApplied(text string) bool {
	last := s.back(1)
	switch text {
	case "=>":
		return false
	case "*":
		return !slices.Contains([]string{".", "(", "select", ","}, last)
	case "-":
		return name.MatchString(last) && !slices.Contains(words, last) || last == ")"
	}
	return last != "."
}
