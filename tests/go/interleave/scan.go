package interleave

import "strings"

// token is a word, a symbol or a literal of PL/pgSQL; comments and spaces are none.
type token struct {
	text  string // a word in lower case
	start int
	end   int
}

// scan splits a body into tokens.
func scan(body string) (tokens []token) {
	isWord := func(c byte) bool {
		return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
	}
	for at := 0; at < len(body); {
		c, rest := body[at], body[at:]
		end := at + 1
		switch {
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			at++
			continue
		case strings.HasPrefix(rest, "--"):
			at += strings.IndexByte(rest+"\n", '\n')
			continue
		case strings.HasPrefix(rest, "/*"):
			at += strings.Index(rest, "*/") + 2
			continue
		case c == '\'' || c == '"':
			escapes := c == '\'' && len(tokens) > 0 && tokens[len(tokens)-1].text == "e" &&
				tokens[len(tokens)-1].end == at
			for end < len(body) && (body[end] != c || end+1 < len(body) && body[end+1] == c) {
				if body[end] == c || escapes && body[end] == '\\' {
					end++
				}
				end++
			}
			end++
		case c == '$' && strings.Contains(rest[1:], "$") && !isDigit(rest[1:]):
			quote := rest[:strings.IndexByte(rest[1:], '$')+2]
			end = at + len(quote) + strings.Index(rest[len(quote):], quote) + len(quote)
		case isWord(c):
			for end < len(body) && isWord(body[end]) {
				end++
			}
		case strings.HasPrefix(rest, "<<"), strings.HasPrefix(rest, ">>"):
			end = at + 2
		}
		tokens = append(tokens, token{strings.ToLower(body[at:end]), at, end})
		at = end
	}
	return tokens
}

func isDigit(s string) bool { return s[0] >= '0' && s[0] <= '9' }

// callees finds which functions a text calls, by way of other functions too.
type callees struct {
	bodies   map[string]string // of functions by name, and of views
	triggers set               // functions of triggers, which any statement may call
	known    map[string]set
}

// mayCall reports whether a statement may call a function.
func (c *callees) mayCall(statement, function string) bool {
	return c.triggers[function] || c.of(statement)[function]
}

// of returns the functions that a text calls.
func (c *callees) of(text string) set {
	if known, ok := c.known[text]; ok {
		return known
	}
	found := set{}
	c.collect(text, found)
	c.known[text] = found
	return found
}

func (c *callees) collect(text string, found set) {
	for _, m := range named.FindAllStringSubmatch(withoutComments(text), -1) {
		if body, ok := c.bodies[m[1]]; ok && !found[m[1]] {
			found[m[1]] = true
			c.collect(body, found)
		}
	}
}
