package crontab

import (
	"strconv"
	"strings"
	"unicode/utf16"
)

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
