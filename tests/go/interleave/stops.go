package interleave

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A stop is a point between two statements of a PL/pgSQL function, where a session waits until the driver lets it
// continue.
type stop struct {
	function  string
	line      int    // of the function's body
	statement string // what comes after the stop
	guarded   bool   // stands in a block with exception handlers: what it has done there may be rolled back
}

func (s stop) place() string { return fmt.Sprintf("%s:%d", s.function, s.line) }

// withStops returns the body of a PL/pgSQL function with a stop before each statement, condition of ELSIF and initial
// value of a variable that touches what sessions share. A stop calls interleave.stop, which returns false, so that it
// changes nothing:
//
//   - before a statement it is an IF statement without statements, which changes not even FOUND;
//   - before an ELSIF it is another ELSIF without statements;
//   - before a variable it is another variable.
func withStops(function, body string, touches func(text string) bool) (stepped string, stops []stop, err error) {
	p := &parser{function: function, body: body, tokens: scan(body), touches: touches}
	defer func() {
		if fault, ok := recover().(parseError); ok {
			err = fmt.Errorf("put stops into %s: %s", function, string(fault))
		}
	}()
	p.block()
	// Stops of nested statements come later in the text but were found earlier.
	slices.SortStableFunc(p.spots, func(a, b spot) int { return a.offset - b.offset })
	var b strings.Builder
	from := 0
	for _, at := range p.spots {
		b.WriteString(body[from:at.offset])
		call := fmt.Sprintf(`interleave.stop('%s')`, at.stop.place())
		b.WriteString(strings.NewReplacer("CALL", call, "LINE", strconv.Itoa(at.stop.line)).Replace(at.form))
		from = at.offset
		stops = append(stops, at.stop)
	}
	b.WriteString(body[from:])
	return b.String(), stops, nil
}

// The forms of a stop.
const (
	beforeStatement = "if CALL then end if; "
	beforeElsif     = "elsif CALL then "
	beforeVariable  = "_gw_stop_LINE boolean := CALL; "
)

type parseError string

// parser finds the statements of a function's body. It knows the compound statements of PL/pgSQL; any other statement
// ends with its semicolon.
type parser struct {
	function string
	body     string
	tokens   []token
	touches  func(text string) bool
	next     int
	spots    []spot
}

type spot struct {
	offset int
	form   string
	stop   stop
}

func (p *parser) peek() string {
	if p.next == len(p.tokens) {
		panic(parseError("the body ends too early"))
	}
	return p.tokens[p.next].text
}

func (p *parser) take(want string) {
	if got := p.peek(); got != want {
		t := p.tokens[p.next]
		panic(parseError(fmt.Sprintf("line %d: %q instead of %q", p.line(t.start), got, want)))
	}
	p.next++
}

func (p *parser) line(offset int) int { return strings.Count(p.body[:offset], "\n") + 1 }

// until goes behind the next of these words that is in no parentheses and no CASE expression, and returns it.
func (p *parser) until(words ...string) string {
	for depth, cases := 0, 0; ; p.next++ {
		word := p.peek()
		if depth == 0 && cases == 0 {
			for _, w := range words {
				if word == w {
					p.next++
					return word
				}
			}
		}
		switch word {
		case "(", "[":
			depth++
		case ")", "]":
			depth--
		case "case":
			cases++
		case "end":
			cases--
		}
	}
}

func (p *parser) label() {
	if p.peek() == "<<" {
		p.next += 2
		p.take(">>")
	}
}

// block takes [option of the compiler ...] [label] [declare ...] begin ... [exception ...] end.
func (p *parser) block() {
	for p.peek() == "#" {
		p.next += 3
	}
	p.label()
	if p.peek() == "declare" {
		p.next++
		p.variables()
	}
	p.take("begin")
	from := len(p.spots)
	p.statements()
	if p.peek() == "exception" {
		for i := range p.spots[from:] {
			p.spots[from+i].stop.guarded = true
		}
		p.next++
		for p.peek() == "when" {
			p.until("then")
			p.statements()
		}
	}
	p.take("end")
	for p.next < len(p.tokens) && p.peek() != ";" {
		p.next++
	}
	if p.next < len(p.tokens) {
		p.next++
	}
}

// variables takes the declarations of a block.
func (p *parser) variables() {
	for p.peek() != "begin" {
		first := p.next
		p.until(";")
		for _, t := range p.tokens[first:p.next] {
			if t.text == "=" || t.text == "default" {
				p.stop(first, beforeVariable)
				break
			}
		}
	}
}

// statements takes all up to the word that ends or continues a compound statement.
func (p *parser) statements() {
	for {
		switch p.peek() {
		case "end", "elsif", "else", "exception", "when":
			return
		}
		p.statement()
	}
}

func (p *parser) statement() {
	first := p.next
	p.label()
	switch p.peek() {
	case "declare", "begin":
		p.block()
	case "if":
		p.until("then")
		p.stop(first, beforeStatement)
		p.statements()
		for p.peek() == "elsif" {
			first := p.next
			p.until("then")
			p.stop(first, beforeElsif)
			p.statements()
		}
		if p.peek() == "else" {
			p.next++
			p.statements()
		}
		p.end("if")
	case "while":
		p.until("loop")
		if p.touches(p.text(first)) {
			panic(parseError(fmt.Sprintf("line %d: the condition of a WHILE touches what is shared; use LOOP and EXIT",
				p.line(p.tokens[first].start))))
		}
		p.statements()
		p.end("loop")
	case "loop", "for", "foreach":
		p.until("loop")
		p.stop(first, beforeStatement)
		p.statements()
		p.end("loop")
	case "case":
		panic(parseError("a CASE statement, which is not supported"))
	default:
		p.until(";")
		p.stop(first, beforeStatement)
	}
}

func (p *parser) end(kind string) {
	p.take("end")
	p.take(kind)
	p.until(";")
}

// stop puts a stop before the text from token first to here, if that touches what is shared.
func (p *parser) stop(first int, form string) {
	if text := p.text(first); p.touches(text) {
		at := p.tokens[first].start
		p.spots = append(p.spots, spot{at, form, stop{function: p.function, line: p.line(at), statement: text}})
	}
}

// text returns what stands from token first to here.
func (p *parser) text(first int) string { return p.body[p.tokens[first].start:p.tokens[p.next-1].end] }
