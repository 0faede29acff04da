package config

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// reader reads a config file and collects its problems.
type reader struct {
	path     string
	getenv   func(string) string
	anchors  map[string]ast.Node
	merging  int // the current depth of nested merges
	problems Problems
}

// deepest is the maximum depth of nested merges. It stops a mapping that merges itself.
const deepest = 20

// body returns the top node of a file, nil if the file is empty.
func (r *reader) body(text string) ast.Node {
	text = strings.TrimPrefix(text, "\uFEFF") // a byte order mark, as of Notepad
	file, err := parser.ParseBytes([]byte(text), 0, parser.AllowDuplicateMapKey())
	if err != nil {
		if mistake, ok := errors.AsType[yaml.Error](err); ok && mistake.GetToken() != nil {
			r.refuse(r.at(mistake.GetToken()), "this is not YAML: %s", mistake.GetMessage())
		} else {
			r.refuse(Position{Path: r.path}, "this is not YAML: %s", err)
		}
		return nil
	}
	var body ast.Node
	for i, document := range file.Docs {
		if i > 0 && document.Body != nil {
			r.refuse(r.of(document.Body), "a second document begins here; a config file has only one")
			break
		}
		body = document.Body
	}
	for _, document := range file.Docs {
		if document.Body != nil {
			ast.Walk(r, document.Body)
		}
	}
	return body
}

// Visit stores the anchors.
func (r *reader) Visit(node ast.Node) ast.Visitor {
	if anchor, ok := node.(*ast.AnchorNode); ok {
		r.anchors[anchor.Name.GetToken().Value] = anchor.Value
	}
	return r
}

// plain returns the node without anchors and aliases, nil if it is empty. ok is false after a problem.
func (r *reader) plain(node ast.Node) (plain ast.Node, ok bool) {
	for range 100 { // an alias that refers to itself has no value
		switch n := node.(type) {
		case *ast.AnchorNode:
			node = n.Value
		case *ast.TagNode:
			node = n.Value
		case *ast.AliasNode:
			target, known := r.anchors[n.Value.GetToken().Value]
			if !known {
				r.refuse(r.of(n), "there is no anchor &%s", n.Value.GetToken().Value)
				return nil, false
			}
			node = target
		case *ast.NullNode:
			return nil, true
		default:
			return node, true
		}
	}
	r.refuse(r.of(node), "this alias refers to itself")
	return nil, false
}

func (r *reader) at(t *token.Token) Position {
	return Position{Path: r.path, Line: t.Position.Line, Column: t.Position.Column}
}

// of returns the position at which a node begins.
func (r *reader) of(node ast.Node) Position {
	if pairs, ok := node.(*ast.MappingNode); ok && len(pairs.Values) > 0 && !pairs.IsFlowStyle {
		return r.of(pairs.Values[0])
	}
	if pair, ok := node.(*ast.MappingValueNode); ok {
		return r.of(pair.Key)
	}
	return r.at(node.GetToken())
}

func (r *reader) refuse(at Position, format string, args ...any) {
	r.problems = append(r.problems, Problem{at, fmt.Sprintf(format, args...)})
}

func isMapping(node ast.Node) bool {
	switch node.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return true
	}
	return false
}

// entry is a key with its value, which is nil if there is none.
type entry struct {
	name  string
	at    Position // of the key
	value ast.Node
}

// valueAt returns the position of the value, or of the key if there is no value.
func (r *reader) valueAt(e entry) Position {
	if e.value == nil {
		return e.at
	}
	return r.of(e.value)
}

// entries returns the keys of a mapping with their values, those of merged mappings last. what is the mapping's name in
// messages.
func (r *reader) entries(node ast.Node, at Position, what string) []entry {
	var pairs []*ast.MappingValueNode
	switch n := node.(type) {
	case nil:
		return nil
	case *ast.MappingNode:
		pairs = n.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{n}
	default:
		r.refuse(at, "%s takes keys with values, as in name: value", what)
		return nil
	}
	var own, merged []entry
	seen := make(map[string]Position)
	for _, pair := range pairs {
		if pair.Key.IsMergeKey() {
			merged = append(merged, r.merged(pair, what)...)
			continue
		}
		value, ok := r.plain(pair.Value)
		if !ok {
			continue
		}
		e := entry{name: pair.Key.GetToken().Value, at: r.of(pair.Key), value: value}
		if first, again := seen[e.name]; again {
			r.refuse(e.at, "%s occurs twice, first in line %d; remove one of them", e.name, first.Line)
			continue
		}
		seen[e.name] = e.at
		own = append(own, e)
	}
	for _, e := range merged {
		if _, again := seen[e.name]; !again {
			seen[e.name] = e.at
			own = append(own, e)
		}
	}
	return own
}

// merged returns the entries that a merge key adds.
func (r *reader) merged(pair *ast.MappingValueNode, what string) []entry {
	r.merging++
	defer func() { r.merging-- }()
	if r.merging > deepest {
		r.refuse(r.of(pair.Key), "this mapping merges itself")
		return nil
	}
	value, ok := r.plain(pair.Value)
	if !ok {
		return nil
	}
	return r.entries(value, r.of(pair.Value), what)
}

// scalar returns the text of a single value.
func (r *reader) scalar(e entry) (text Expanded, ok bool) {
	switch n := e.value.(type) {
	case nil:
		r.refuse(e.at, "%s has no value; set one, or remove the key", e.name)
		return text, false
	case *ast.LiteralNode:
		text.Written = n.Value.Value
	case *ast.StringNode:
		text.Written = n.Value
	case ast.ScalarNode:
		text.Written = n.GetToken().Value
	default:
		r.refuse(r.valueAt(e), "%s takes a single value", e.name)
		return text, false
	}
	var problems []string
	text.Value, problems = expand(text.Written, r.getenv)
	for _, problem := range problems {
		r.refuse(r.valueAt(e), "%s: %s", e.name, problem)
	}
	return text, len(problems) == 0
}

// text returns a text, which is empty only after a problem.
func (r *reader) text(e entry) Expanded {
	text, ok := r.scalar(e)
	if ok && strings.TrimSpace(text.Value) == "" {
		r.refuse(r.valueAt(e), "%s is empty; set a value, or remove the key", e.name)
	}
	return text
}

// number returns a whole number from 1 to most; 0 after a problem.
func (r *reader) number(e entry, most int) int {
	text, ok := r.scalar(e)
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(text.Value) // for a number that is out of range, the nearest int
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange):
		r.refuse(r.valueAt(e), "%s takes a whole number, not %q", e.name, text.Written)
	case n < 1:
		r.refuse(r.valueAt(e), "%s is %s, must be at least 1", e.name, text.Written)
	case n > most:
		r.refuse(r.valueAt(e), "%s is %s, must be at most %d", e.name, text.Written, most)
	default:
		return n
	}
	return 0
}

// yes returns whether a value is true.
func (r *reader) yes(e entry) bool {
	text, ok := r.scalar(e)
	if ok && text.Value != "true" && text.Value != "false" {
		r.refuse(r.valueAt(e), "%s takes true or false, not %q", e.name, text.Written)
	}
	return text.Value == "true"
}

// time returns a time above 0 and at most [LongestTime]; 0 after a problem.
func (r *reader) time(e entry) time.Duration {
	text, ok := r.scalar(e)
	if !ok {
		return 0
	}
	d, err := parseTime(text.Value)
	switch {
	case err != nil:
		r.refuse(r.valueAt(e), "%s takes a time with a unit, such as 500ms, 30s, 5m or 4h, not %q", e.name,
			text.Written)
	case d <= 0:
		r.refuse(r.valueAt(e), "%s is %s, must be positive", e.name, text.Written)
	case d > LongestTime:
		r.refuse(r.valueAt(e), "%s is %s, must be at most %.0fh, which is 100 years", e.name, text.Written,
			LongestTime.Hours())
	default:
		return d
	}
	return 0
}

// digits matches the numbers in a time.
var digits = regexp.MustCompile("[0-9]+")

// parseTime parses a time. If its numbers are too large it returns the longest time.
func parseTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err == nil {
		return d, nil
	}
	sign, err := time.ParseDuration(digits.ReplaceAllString(text, "1"))
	if sign < 0 {
		return math.MinInt64, err
	}
	return math.MaxInt64, err
}

// list returns the elements of a list; a single value is a list of one element.
func (r *reader) list(e entry) []entry {
	sequence, ok := e.value.(*ast.SequenceNode)
	if !ok {
		return []entry{e}
	}
	if len(sequence.Values) == 0 {
		r.refuse(r.of(sequence), "%s is an empty list", e.name)
	}
	var elements []entry
	for _, element := range sequence.Values {
		if value, ok := r.plain(element); ok {
			elements = append(elements, entry{name: e.name, at: r.of(element), value: value})
		}
	}
	return elements
}

// texts returns a mapping of names to texts.
func (r *reader) texts(e entry) map[string]string {
	pairs := r.entries(e.value, r.valueAt(e), e.name)
	if len(pairs) == 0 {
		return nil
	}
	texts := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		text, _ := r.scalar(pair)
		texts[pair.name] = text.Value
	}
	return texts
}

// reference matches a reference ${NAME} to an environment variable, or the escape $${ for a literal ${.
var reference = regexp.MustCompile(`\$\$\{|\$\{[^}]*\}?`)

var variable = regexp.MustCompile(`^\$\{([A-Za-z_][A-Za-z0-9_]*)\}$`)

// Expanded is a text of a config file in which references to environment variables are replaced.
type Expanded struct {
	Value   string // with the values of environment variables
	Written string // as written in the file; this may be shown
}

// IsExpanded reports whether the value differs from the text in the file.
func (t Expanded) IsExpanded() bool { return t.Value != t.Written }

// shown returns the text for an error message: used, the value as it was used, unless it contains variables.
func (t Expanded) shown(used string) string {
	if t.IsExpanded() {
		return t.Written
	}
	return used
}

// expand replaces each ${NAME} by the value of the environment variable, and $${ by ${.
func expand(text string, getenv func(string) string) (expanded string, problems []string) {
	expanded = reference.ReplaceAllStringFunc(text, func(found string) string {
		if found == "$${" {
			return "${"
		}
		name := variable.FindStringSubmatch(found)
		if name == nil {
			problems = append(problems, fmt.Sprintf("%q is not a reference ${NAME} to an environment variable; write $${ for a literal ${", found))
			return found
		}
		value := getenv(name[1])
		if value == "" {
			problems = append(problems, fmt.Sprintf("the environment variable %s is not set; write $${ for a literal ${", name[1]))
		}
		return value
	})
	return expanded, problems
}

// password matches the password of a URL; the group is the text before it.
var password = regexp.MustCompile(`^([^/?]*//[^/?:]*:)[^/?]*@`)

// ShownURL returns a URL for messages: as written in the file, without password and query.
func (t Expanded) ShownURL() string {
	shown, _, hasQuery := strings.Cut(t.Written, "?")
	if hasQuery {
		shown += "?..."
	}
	return password.ReplaceAllString(shown, "${1}xxxxx@")
}
