package crontab

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// json5Lexer rewrites JSON5 token by token into what json5 reads as npm's json5 reads the original: no comments, no
// space but blanks, names and strings in double quotes with JSON's escapes, decimal numbers, null for what is not finite.
// It knows nothing of objects and arrays.
type json5Lexer struct {
	text    string
	at      int    // the offset in text
	plain   []byte // the result
	origins []int  // for each byte of plain, the offset in text that a complaint about it is to name
}

// emit adds to the result what stands for the text at an offset.
func (l *json5Lexer) emit(plain string, origin int) {
	l.plain = append(l.plain, plain...)
	for range len(plain) {
		l.origins = append(l.origins, origin)
	}
}

// peek returns the character at the current offset, or end.
func (l *json5Lexer) peek() rune {
	if l.at == len(l.text) {
		return end
	}
	r, _ := utf8.DecodeRuneInString(l.text[l.at:])
	return r
}

const end rune = -1

// read returns the character at the current offset and steps over it.
func (l *json5Lexer) read() rune {
	r := l.peek()
	if r != end {
		l.at += utf8.RuneLen(r)
	}
	return r
}

// wrong is the error that a character at the current offset cannot stand there.
func (l *json5Lexer) wrong() *json5Error { return newJSON5Error(l.text, l.at) }

func (l *json5Lexer) run() *json5Error {
	for l.peek() != end {
		start := l.at
		var err *json5Error
		switch r := l.peek(); {
		case isSpace(r):
			l.read()
			l.emit(" ", start)
		case r == '/':
			err = l.comment()
			l.emit(" ", start)
		case r == '"' || r == '\'':
			err = l.quotation()
		case r == '+' || r == '-' || r == '.' || isDigit(r):
			err = l.number()
		case isNameStart(r) || r == '\\':
			err = l.name()
		default:
			l.read()
			l.emit(l.text[start:l.at], start)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// comment steps over a comment.
func (l *json5Lexer) comment() *json5Error {
	l.read()
	switch l.peek() {
	case '/':
		l.at = len(l.text) // there is but one line
		return nil
	case '*':
		l.read()
		length := strings.Index(l.text[l.at:], "*/")
		if length < 0 {
			l.at = len(l.text)
			return l.wrong()
		}
		l.at += length + len("*/")
		return nil
	}
	return l.wrong()
}

// quotation rewrites a string.
func (l *json5Lexer) quotation() *json5Error {
	start := l.at
	quote := l.read()
	var units []uint16 // a character outside the basic plane may be written as two escapes
	for l.peek() != quote {
		if l.peek() == end {
			return l.wrong()
		}
		r := l.read()
		if r != '\\' {
			units = utf16.AppendRune(units, r)
			continue
		}
		unit, err := l.escape()
		if err != nil {
			return err
		}
		units = append(units, unit...)
	}
	l.read()
	l.emitString(string(utf16.Decode(units)), start)
	return nil
}

// escape reads what follows a backslash in a string.
func (l *json5Lexer) escape() ([]uint16, *json5Error) {
	simple := map[rune]uint16{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}
	r := l.peek()
	if r == end || '1' <= r && r <= '9' {
		return nil, l.wrong()
	}
	l.read()
	switch r {
	case 'b', 'f', 'n', 'r', 't', 'v':
		return []uint16{simple[r]}, nil
	case '0':
		if isDigit(l.peek()) {
			return nil, l.wrong()
		}
		return []uint16{0}, nil
	case 'x':
		return l.hexadecimal(2)
	case 'u':
		return l.hexadecimal(4)
	}
	return utf16.AppendRune(nil, r), nil
}

// hexadecimal reads as many digits.
func (l *json5Lexer) hexadecimal(count int) ([]uint16, *json5Error) {
	start := l.at
	for range count {
		if !strings.ContainsRune("0123456789abcdefABCDEF", l.peek()) {
			return nil, l.wrong()
		}
		l.read()
	}
	unit, _ := strconv.ParseUint(l.text[start:l.at], 16, 16) // these are up to four digits
	return []uint16{uint16(unit)}, nil
}

// name rewrites a name before a colon, and words that stand for a value.
func (l *json5Lexer) name() *json5Error {
	start := l.at
	var name strings.Builder
	for isNamePart(l.peek()) || l.peek() == '\\' {
		r := l.read()
		if r == '\\' {
			if l.peek() != 'u' {
				return l.wrong()
			}
			l.read()
			unit, err := l.hexadecimal(4)
			if err != nil {
				return err
			}
			r = rune(unit[0])
			if !isNamePart(r) || name.Len() == 0 && !isNameStart(r) {
				column := len(utf16.Encode([]rune(l.text[:l.at]))) - len("uFFFF")
				return &json5Error{"JSON5: invalid identifier character at 1:" + strconv.Itoa(column), start}
			}
		}
		name.WriteRune(r)
	}
	written := l.text[start:l.at]
	switch {
	case l.isBeforeColon():
		l.emitString(name.String(), start)
	case written == "NaN" || written == "Infinity":
		l.emit("null", start)
	default:
		for i := range len(written) { // json5 takes true, false and null, and refuses the rest
			l.emit(written[i:i+1], start+i)
		}
	}
	return nil
}

// isBeforeColon reports whether nothing but space and comments lies between the current offset and a colon.
func (l *json5Lexer) isBeforeColon() bool {
	ahead := json5Lexer{text: l.text, at: l.at}
	for isSpace(ahead.peek()) || ahead.peek() == '/' {
		if ahead.peek() != '/' {
			ahead.read()
		} else if ahead.comment() != nil {
			return false
		}
	}
	return ahead.peek() == ':'
}

// emitString adds a string to the result.
func (l *json5Lexer) emitString(value string, origin int) {
	text, _ := json.Marshal(value) // a string can be encoded
	l.emit(string(text), origin)
}

const decimal = `(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+`

var (
	// json5Number has a group for a hexadecimal number, and one for any other that is finite.
	json5Number = regexp.MustCompile(`^[-+]?(?:(0[xX][0-9a-fA-F]+)|((?:` + decimal + `)(?:[eE][-+]?[0-9]+)?)|Infinity|NaN)`)

	// readableNumber matches as much as can be understood of what begins a number.
	readableNumber = regexp.MustCompile(`^[-+]?(?:0[xX][0-9a-fA-F]*|(?:` + decimal + `)(?:[eE][-+]?[0-9]*)?|\.)?`)
)

// number rewrites a number as JavaScript writes it.
func (l *json5Lexer) number() *json5Error {
	start := l.at
	parts := json5Number.FindStringSubmatch(l.text[start:])
	readable := readableNumber.FindString(l.text[start:])
	if parts == nil || len(parts[0]) < len(readable) {
		l.at += len(readable)
		l.emit(readable, start) // if no number may begin here, that is what is wrong
		return l.wrong()
	}
	l.at += len(parts[0])
	value := math.Inf(1)
	switch {
	case parts[1] != "":
		value, _ = strconv.ParseFloat(parts[1]+"p0", 64) // too large a number is infinite
	case parts[2] != "":
		value, _ = strconv.ParseFloat(parts[2], 64)
	}
	if parts[0][0] == '-' && value != 0 {
		value = -value
	}
	if math.IsInf(value, 0) {
		l.emit("null", start)
	} else {
		l.emit(formatNumber(value), start)
	}
	if isNamePart(l.peek()) || l.peek() == '.' {
		return l.wrong()
	}
	return nil
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func isNameStart(r rune) bool {
	return r == '$' || r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r)
}

// isNamePart knows the two joiners, which have no width, besides what is a letter, a mark, a digit or a connector.
func isNamePart(r rune) bool {
	return isNameStart(r) || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc) || r == '\u200C' || r == '\u200D'
}
