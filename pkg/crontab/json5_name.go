package crontab

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

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
