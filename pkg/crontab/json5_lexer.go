package crontab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// json5Lexer rewrites JSON5 token by token into a form that json5 reads as npm's json5 reads the original: no comments,
// no white space except spaces, strings and unusual names in double quotes with JSON's escapes, plain decimal numbers,
// and +Infinity for all numbers that are not finite. It does not check whether a token is allowed at its position.
type json5Lexer struct {
	text    string
	at      int    // the offset in text
	plain   []byte // the result
	open    []byte // the open brackets
	origins []int  // for each byte of plain, the offset in text that an error refers to
}

// emit appends the rewritten form of the text at an offset.
func (l *json5Lexer) emit(plain string, origin int) {
	l.plain = append(l.plain, plain...)
	for range len(plain) {
		l.origins = append(l.origins, origin)
	}
}

func (l *json5Lexer) emitString(value string, origin int) {
	text, _ := json.Marshal(value) // encoding a string does not fail
	l.emit(string(text), origin)
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

// read returns the character at the current offset and advances.
func (l *json5Lexer) read() rune {
	r := l.peek()
	if r != end {
		l.at += utf8.RuneLen(r)
	}
	return r
}

// wrong returns the error for an unexpected character at the current offset.
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
			l.bracket(r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bracket records which brackets are open.
func (l *json5Lexer) bracket(r rune) {
	switch r {
	case '{', '[':
		l.open = append(l.open, byte(r))
	case '}', ']':
		l.open = l.open[:max(len(l.open)-1, 0)]
	}
}

func (l *json5Lexer) comment() *json5Error {
	l.read()
	switch l.peek() {
	case '/':
		l.at = len(l.text) // there is only one line
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

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

// name quotes a name that is not plain ASCII. Where a value is expected, only a few words are valid; an x in place of
// the name makes json5 fail where npm's does.
func (l *json5Lexer) name() *json5Error {
	start, emitted, isKey := l.at, len(l.plain), l.isBeforeKey()
	var name strings.Builder
	for isNamePart(l.peek()) || l.peek() == '\\' {
		at := l.at
		r := l.read()
		if r < utf8.RuneSelf && r != '\\' {
			l.emit(string(r), at)
		} else {
			l.emit("x", at)
		}
		if r == '\\' {
			var err *json5Error
			if r, err = l.nameEscape(name.Len() == 0); err != nil {
				return err
			}
		}
		name.WriteRune(r)
	}
	if isKey && l.text[start:l.at] != string(l.plain[emitted:]) {
		l.plain, l.origins = l.plain[:emitted], l.origins[:emitted]
		l.emitString(name.String(), start)
	}
	return nil
}

// nameEscape reads the characters after a backslash in a name.
func (l *json5Lexer) nameEscape(isFirst bool) (rune, *json5Error) {
	if l.peek() != 'u' {
		return 0, l.wrong()
	}
	start := l.at
	l.read()
	unit, err := l.hexadecimal(4)
	if err != nil {
		return 0, err
	}
	r := rune(unit[0])
	if !isNamePart(r) || isFirst && !isNameStart(r) {
		return 0, &json5Error{fmt.Sprintf("JSON5: invalid identifier character at 1:%d",
			len(utf16.Encode([]rune(l.text[:start])))), start}
	}
	return r, nil
}

// isBeforeKey reports whether the lexer is in an object at the position of a key.
func (l *json5Lexer) isBeforeKey() bool {
	return bytes.HasSuffix(l.open, []byte("{")) && !bytes.HasSuffix(bytes.TrimRight(l.plain, " "), []byte(":"))
}

func isNameStart(r rune) bool {
	return r == '$' || r == '_' || unicode.IsLetter(r) || unicode.Is(unicode.Nl, r)
}

// isNamePart accepts the two zero-width joiners in addition to letters, marks, digits and connectors.
func isNamePart(r rune) bool {
	return isNameStart(r) || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc) || r == '\u200C' ||
		r == '\u200D'
}

const decimal = `(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+`

var (
	// json5Number has one group for a hexadecimal number, and one for any other finite number.
	json5Number = regexp.MustCompile(`^[-+]?(?:(0[xX][0-9a-fA-F]+)|((?:` + decimal +
		`)(?:[eE][-+]?[0-9]+)?)|Infinity|NaN)`)

	// readableNumber matches the valid prefix of a number.
	readableNumber = regexp.MustCompile(`^[-+]?(?:0[xX][0-9a-fA-F]*|(?:` + decimal + `)(?:[eE][-+]?[0-9]*)?|\.|` +
		`Infinit|Infini|Infin|Infi|Inf|In|I|Na|N)?`)
)

// number rewrites a number as JavaScript prints it.
func (l *json5Lexer) number() *json5Error {
	start := l.at
	parts := json5Number.FindStringSubmatch(l.text[start:])
	readable := readableNumber.FindString(l.text[start:])
	if parts == nil || len(parts[0]) < len(readable) {
		l.at += len(readable)
		l.emit(l.text[start:start+1], start) // if a number is not allowed here, that is the error
		return l.wrong()
	}
	l.at += len(parts[0])
	value := math.Inf(1)
	switch {
	case parts[1] != "":
		value, _ = strconv.ParseFloat(parts[1]+"p0", 64) // a number that is too large is infinite
	case parts[2] != "":
		value, _ = strconv.ParseFloat(parts[2], 64)
	}
	if parts[0][0] == '-' && value != 0 {
		value = -value
	}
	l.emit(" ", start) // without a sign, it could become part of the previous token
	if math.IsInf(value, 0) {
		l.emit("+Infinity", start)
	} else {
		l.emit(formatNumber(value), start)
	}
	if isNamePart(l.peek()) || l.peek() == '\\' {
		return l.wrong()
	}
	return nil
}

// quotation rewrites a string.
func (l *json5Lexer) quotation() *json5Error {
	start := l.at
	quote := l.read()
	l.emit(`"`, start) // if a string is not allowed here, that is the error
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
	l.plain, l.origins = l.plain[:len(l.plain)-1], l.origins[:len(l.origins)-1]
	l.emitString(string(utf16.Decode(units)), start)
	return nil
}

// escape reads the characters after a backslash in a string.
func (l *json5Lexer) escape() ([]uint16, *json5Error) {
	r := l.peek()
	if r == end || '1' <= r && r <= '9' {
		return nil, l.wrong()
	}
	l.read()
	controls := map[rune]uint16{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v'}
	if control, isControl := controls[r]; isControl {
		return []uint16{control}, nil
	}
	switch r {
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

// hexadecimal reads count digits.
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
