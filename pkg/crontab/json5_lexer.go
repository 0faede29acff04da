package crontab

import (
	"encoding/json"
	"strings"
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

// emitString appends a string.
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

// comment skips a comment.
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
