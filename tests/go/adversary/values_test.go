package adversary

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// generator generates values as SQL expressions, so that a call can be printed and repeated however large its values
// are.
type generator struct{ *rand.Rand }

// odds returns true once in n times.
func (g generator) odds(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g generator, values []T) T { return values[g.IntN(len(values))] }

// literal quotes a text for any standard_conforming_strings.
func literal(text string) string {
	return "E'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\n", `\n`, "\r", `\r`, "\u202e", `\u202E`).Replace(text) +
		"'"
}

// edges are the values at the limits of each type, as expressions that are cast to it.
var edges = map[string][]string{
	"boolean":  {"true", "false"},
	"smallint": {"0", "1", "-1", "32767", "-32768"},
	"integer":  {"0", "1", "-1", "2", "25", "100", "32767", "32768", "-32769", "2147483647", "-2147483648"},
	"bigint": {"0", "1", "-1", "2147483648", "9007199254740993", "9223372036854775807",
		"-9223372036854775808"},
	"double precision": {"'NaN'", "'Infinity'", "'-Infinity'", "'-0'", "1e308", "-1e308", "5e-324"},
	"numeric":          {"'NaN'", "0", "1e131071", "1e-16383", "-1e131071"},
	"timestamp with time zone": {
		"'infinity'", "'-infinity'", "'9999-12-31'", "'294276-12-31 23:59:59.999999+00'", "'4714-11-24 00:00:00+00 BC'",
		"'4713-01-01 BC'", "'epoch'", "'2262-04-11 23:47:16.854776+00'", "now()",
		"clock_timestamp() + interval '1 microsecond'", "clock_timestamp() - interval '1 microsecond'",
		"clock_timestamp() + interval '300 milliseconds'", "clock_timestamp() + interval '2 seconds'",
		"now() + interval '292 years'", "now() + interval '293 years'", "now() - interval '1 year'",
	},
	"interval": {
		"'0'", "'1 microsecond'", "'-1 microsecond'", "'1 second'", "'1 day'", "'178000000 years'",
		"'-178000000 years'", "'178000000 years 11 mons 2147483647 days 2562047788:00:54.775807'", "'1 mon -30 days'",
		"'-1 day +24:00:00.000001'", "'2562047788:00:54.775807'", "'-2562047788:00:54.775808'", "'300 years'",
		"'infinity'",
		"'-infinity'", // the last two from 17 on
	},
	"text": {
		"''", "' '", "repeat(' ', 1000)", "repeat('x', 128)", "repeat('x', 129)", "repeat('x', 512)",
		"repeat('x', 513)", "repeat('x', 1000000)",
		"repeat(U&'\\+01F600', 128)", literal("caf\u00e9"), literal("cafe\u0301"),
		literal("\u202e\u05e9\u05dc\u05d5\u05dd"), literal("\ufffe\U0010ffff"),
		literal("\x01\b\t\n\v\f\r\x1b\x7f\u0085\u2028"), literal(`'); drop table "_private_jobs"; --`),
		literal(`\ \\ ' "" $$ {} %s $1 {{ .schema }}`),
		literal(`\u0000`), literal(`\ud800`), "'null'", "'NaN'", "'infinity'", "'*'", "'{}'", "'-1'", "'2147483648'",
		"'1e131071'",
	},
	"json": {
		"'null'", "'true'", "'0'", "'-0'", "'-0.0e-0'", "'1e131071'", "'[1e131071]'", "'-1e-16383'", "'[1E400000]'",
		"'9007199254740993'", `'""'`, `'{}'`, `'[]'`,
		"'[1]'", "'[2, 3]'", `'{"a": 1}'`, `'{"a": 1, "a": 2}'`, `'{"": null}'`, literal(`"\u0000"`),
		literal(`["\u0000"]`), literal(`{"\u0000": 1}`),
		literal(`["\ud800"]`), literal(`["\ud83d\ude00"]`), literal("[\"\u202e\u0301\"]"), "' \t[ 1 ] '",
		"'[' || repeat('1e131071,', 100) || '0]'", "'[' || repeat('1e-16383,', 100) || '0]'",
		"repeat('[', 10000) || repeat(']', 10000)",
		`repeat('{"a":', 2000) || '1' || repeat('}', 2000)`, "'[' || repeat('0,', 200000) || '0]'",
		`'"' || repeat('x', 1000000) || '"'`,
		`'["' || repeat('x', 1000000) || '"]'`, `'{' || repeat('"k":1,', 50000) || '"k":2}'`,
		"'[' || repeat(' ', 500000) || ']'",
	},
}

// large reports whether a value is large, about a megabyte; such values are rarely used.
func large(value string) bool { return strings.Contains(value, "00000)") }

// checkType returns an error for a type without values.
func checkType(typ string) error {
	if _, known := edges[strings.TrimSuffix(typ, "[]")]; !known {
		return fmt.Errorf("there are no values of type %s", typ)
	}
	return nil
}

// edge returns a random value of the type.
func (g generator) edge(typ string) string {
	if g.odds(10) {
		return "null::" + typ
	}
	if element, is := strings.CutSuffix(typ, "[]"); is {
		return g.array(element)
	}
	value := pick(g, edges[typ])
	for large(value) && !g.odds(4) {
		value = pick(g, edges[typ])
	}
	return "(" + value + ")::" + typ
}

// array returns unusual arrays: empty, with nulls, with several dimensions, with other lower bounds, and large ones.
func (g generator) array(element string) string {
	switch g.IntN(12) {
	case 0:
		return "'{}'::" + element + "[]"
	case 1:
		return "array[null, null]::" + element + "[]"
	case 2:
		return fmt.Sprintf("array[array[%s], array[%[1]s]]", g.edge(element))
	case 3:
		return fmt.Sprintf("array_fill(%s, array[2], array[-5])", g.edge(element))
	case 4:
		return fmt.Sprintf("array_fill(%s, array[1000])", "("+pick(g, edges[element][:2])+")::"+element)
	}
	values := make([]string, 1+g.IntN(3))
	for i := range values {
		values[i] = g.edge(element)
	}
	return "array[" + strings.Join(values, ", ") + "]::" + element + "[]"
}
