package fuzz

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

const (
	precomposed, decomposed = "caf\u00e9", "cafe\u0301" // the same word, but different texts
	rightToLeft             = "\u202e\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627"
	nonCharacters           = "\ufffe\uffff\ufdd0\U0010ffff"
	injection               = `'); drop table "_private_jobs"; --`
	punctuation             = `\ \\ ' '' " "" ; $$ {} (,) null %s $1 {{ .schema }}`
	allControls             = "\x01\b\t\n\v\f\r\x1b\x7f\u0085\u2028"
)

var (
	oddTexts = []string{precomposed, decomposed, rightToLeft, nonCharacters, injection, punctuation, allControls,
		" ", "null"}
	longChars = []string{"x", "\u00e9", "\u20ac", "\U0001f600", "'", `\`}
	notUTF8   = []string{"\xff", "a\x00b", "\xed\xa0\x80", "\xc0\xaf", "\xf4\x90\x80\x80", "\xe2\x82"}
	notJSON   = []string{"", " ", "{", "[1,]", `{"a":1,}`, `{'a':1}`, `{"a"}`, "nul", "01", "+1", ".5", "1.", "NaN",
		"--1", `"\x"`, `"\u12"`, `"`, "\"\n\"", "[1] 2", "\ufeff1"}
	runAts = []string{"2000-01-01 00:00:00+00", "2100-02-03 04:05:06.000007+00", "infinity", "-infinity",
		"4714-11-24 00:00:00+00 BC", "294276-12-31 23:59:59.999999+00"}
	faultyNumbers = []int32{0, -1, 32768, -32769, math.MaxInt32, math.MinInt32} // the first two are valid priorities
	jsonNumbers   = []string{"0", "-0", "1.50", "1e2", "-12.340e-2", "0e-3", "-0.00E+1", "9007199254740993", "1E+40",
		"1.5e3", "123456789012345678901234567890.5"}
	jsonChars = []string{"a", `\"`, `\\`, `\/`, `\b\f\n\r\t`, `\u00e9`, `\uFFFE`, `\u001f`, `\ud83d\ude00`,
		"\U0001f600", "'", ";", "$1", "\x7f", rightToLeft, nonCharacters, decomposed,
		`'); drop table \"_private_jobs\"; --`}
	jsonbRefused = []string{`"\u0000"`, `{"a\u0000": 1}`, `"\ud800"`, `"\udc00\ud800"`, `"\ud800\u0041"`, `"\ud800n"`,
		"1e400000", "1e-400000"} // by jsonb, not by json
)

// generator generates the arguments of one call.
type generator struct {
	*rand.Rand
	faults int // on average one in this number of values is faulty
}

// noFaults makes faults so rare that none occurs.
const noFaults = 1 << 30

// odds returns true once in n times.
func (g generator) odds(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g generator, values []T) T { return values[g.IntN(len(values))] }

func (g generator) request() request {
	r := request{
		identifier: g.text(128, "send", "a", "A"), queueName: g.nullable(g.text(128, "q", "Q")),
		jobKey:      g.nullable(g.text(512, "k", "l", "m")),
		maxAttempts: g.number(1, 2, 3, 25, 32766, 32767), priority: g.number(0, 1, -1, -32768, 32767),
		payload: g.payload(),
	}
	switch {
	case g.odds(g.faults):
		r.identifier = text{}
	case g.odds(g.faults):
		r.jobKey = textOf("")
	case g.odds(50):
		r.identifier = textOf("")
	case g.odds(50):
		r.queueName = textOf("")
	}
	if g.odds(3) {
		r.runAt = textOf(pick(g, runAts))
	}
	for g.odds(2) {
		r.flags = append(r.flags, g.text(1000, "f", "g", "ff", ""))
	}
	if r.flags == nil && g.odds(2) {
		r.flags = []text{}
	}
	if g.odds(g.faults * 5) {
		r.flags = append(r.flags, text{})
	}
	r.nestedFlags = g.odds(g.faults * 3)
	return r
}

// requests returns the requests of one add_jobs: mostly a few, sometimes none, null or many, among which one fault refuses all.
func (g generator) requests() []request {
	size := g.IntN(8)
	switch {
	case size == 0 && g.odds(2):
		return nil
	case g.odds(50):
		size, g.faults = many, noFaults
	}
	requests := make([]request, size)
	for i := range requests {
		requests[i] = g.request()
		if g.odds(g.faults / 2) {
			requests[i] = request{isNull: true}
		}
	}
	return requests
}

const many = 100

func (g generator) nullable(t text) text {
	if g.odds(3) {
		return text{}
	}
	return t
}

// text returns mostly one of a few usual texts, or an unusual one; rarely one of the maximum length, or a faulty one.
func (g generator) text(limit int, usual ...string) text {
	char := pick(g, longChars)
	switch {
	case g.odds(g.faults):
		return textOf(strings.Repeat(char, limit+pick(g, []int{1, 1, 1, 1, 100_000})))
	case g.odds(g.faults * 5):
		return textOf(pick(g, notUTF8))
	case g.odds(30):
		return textOf(strings.Repeat(char, limit))
	case g.odds(30):
		return textOf(strconv.Itoa(g.IntN(10_000)))
	case g.odds(3):
		return textOf(pick(g, oddTexts))
	}
	return textOf(pick(g, usual))
}

func (g generator) number(valid ...int32) number {
	switch {
	case g.odds(g.faults):
		return number{V: pick(g, faultyNumbers), Valid: true}
	case g.odds(2):
		return number{}
	}
	return number{V: pick(g, valid), Valid: true}
}

func (g generator) mode() text {
	switch {
	case g.odds(g.faults):
		return textOf(pick(g, []string{"", "Replace", "unsafe_dedupe ", injection, "\x00"}))
	case g.odds(6):
		return text{}
	}
	return textOf(pick(g, []string{"replace", "preserve_run_at", "preserve_run_at", "unsafe_dedupe"}))
}

func (g generator) payload() text {
	switch {
	case g.odds(5):
		return text{}
	case g.odds(g.faults / 2):
		return textOf(pick(g, notJSON))
	case g.odds(g.faults * 8):
		return textOf(g.nested(2 * tooDeep))
	case g.odds(g.faults * 2):
		return textOf(`"` + pick(g, notUTF8) + `"`)
	case g.odds(g.faults / 2):
		return textOf("[" + pick(g, jsonbRefused) + "]")
	case g.odds(150):
		return textOf(g.nested(deep))
	case g.odds(2):
		return textOf(g.array(3))
	}
	return textOf(g.json(3))
}

const big = 10 << 20

// bigPayload returns a payload of 10 MB: in turn an array, a string or an object.
func bigPayload(turn int) text {
	switch turn % 3 {
	case 0:
		return textOf("[" + strings.Repeat(`"\u00e9", `, big/10) + "0]")
	case 1:
		return textOf(`"` + strings.Repeat("\U0001f600", big/4) + `"`)
	default:
		return textOf("{" + strings.Repeat(`"key": [1, 2], `, big/15) + `"key": 0}`)
	}
}

// deep is a nesting of JSON that is still accepted.
const deep = 1000

// nested returns a value nested in this number of arrays, or in twice as many alternating arrays and objects.
func (g generator) nested(depth int) string {
	if g.odds(2) {
		return strings.Repeat("[", depth) + "0" + strings.Repeat("]", depth)
	}
	return strings.Repeat(`[{"a":`, depth) + "null" + strings.Repeat("}]", depth)
}

// json returns random JSON with this maximum nesting.
func (g generator) json(depth int) string {
	kinds := 5
	if depth == 0 {
		kinds = 3
	}
	switch g.IntN(kinds) {
	case 0:
		return pick(g, []string{"null", "true", "false"})
	case 1:
		return pick(g, jsonNumbers)
	case 2:
		return g.jsonString()
	case 3:
		return g.array(depth - 1)
	}
	members := make([]string, g.IntN(4))
	for i := range members {
		members[i] = g.space() + g.jsonString() + g.space() + ":" + g.json(depth-1)
	}
	return "{" + strings.Join(members, ",") + g.space() + "}"
}

func (g generator) array(depth int) string {
	elements := make([]string, g.IntN(4))
	for i := range elements {
		elements[i] = g.space() + g.json(depth) + g.space()
	}
	return g.space() + "[" + strings.Join(elements, ",") + g.space() + "]"
}

func (g generator) jsonString() string {
	var b strings.Builder
	for range g.IntN(4) {
		b.WriteString(pick(g, jsonChars))
	}
	return `"` + b.String() + `"`
}

func (g generator) space() string { return pick(g, []string{"", "", "", " ", "\n\t\r "}) }
