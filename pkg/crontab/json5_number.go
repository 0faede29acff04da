package crontab

import (
	"math"
	"regexp"
	"strconv"
)

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
