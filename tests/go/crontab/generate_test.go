package crontab

import (
	"math/rand/v2"
	"strings"
)

// generator generates crontabs and payloads, most of them valid.
type generator struct{ *rand.Rand }

func (g generator) one(of ...string) string { return of[g.IntN(len(of))] }

// crontab returns a crontab of one to three lines.
func (g generator) crontab() string {
	lines := make([]string, 1+g.IntN(3))
	for i := range lines {
		lines[i] = g.line()
	}
	text := strings.Join(lines, g.one("\n", "\n", "\r\n"))
	for g.IntN(4) == 0 {
		text = g.broken(text, " \t\n\r0159*/,-?&=%+{}[]:'\"\\aAxu_#.\u00e9\u00a0\u2028\ufeff\U0001F600")
	}
	return text
}

func (g generator) line() string {
	if g.IntN(10) == 0 {
		return g.one("", "# comment", " \t", "\u00a0#", "\ufeff")
	}
	var b strings.Builder
	for range 5 {
		b.WriteString(g.field() + g.space())
	}
	b.WriteString(g.one("a", "b", "_c", "d:e/f-g", "h1", g.one("a", "b", "ab", "a.b", "\u00e9",
		strings.Repeat("t", 129))))
	if g.IntN(2) == 0 {
		b.WriteString(g.space() + "?" + g.options())
	}
	if g.IntN(2) == 0 {
		b.WriteString(g.space() + g.one("{}", "{a:1,}", g.object(2)))
	}
	return g.one("", " ", "\t") + b.String() + g.one("", " ", "\u3000")
}

func (g generator) space() string {
	return g.one(" ", " ", " ", "  ", "\t", g.one("\u00a0", "\u2003", "\ufeff", "\u2028"))
}

func (g generator) field() string {
	number := func() string {
		return g.one("0", "1", "2", "3", "4", "5", "6", "7", "8", "05", "12", "23", "31", "59", "60",
			"99999999999999999999999")
	}
	parts := make([]string, 1+g.IntN(10)/8)
	for i := range parts {
		switch g.IntN(100) {
		case 0:
			parts[i] = number()
		case 1:
			parts[i] = number() + "-" + number()
		case 2:
			parts[i] = "*/" + number()
		default:
			parts[i] = g.one("*", "1", "2", "3-5", "*/2")
		}
	}
	return strings.Join(parts, ",")
}

func (g generator) options() string {
	options := make([]string, 1+g.IntN(3))
	for i := range options {
		switch g.IntN(20) {
		case 0:
			options[i] = g.one("", "id", "max=", "=1", "colour=red", "Max=1", "%69d=x", "toString=1", "__proto__=1")
		case 1:
			options[i] = g.one("tz=Europe/Berlin", "job_key=a", "job_key_mode=replace", "job_key_mode=x")
		case 2, 3:
			options[i] = "id=" + g.one("a", "b", "x", "_y-1", "1", "a:b", "%61", "a+b")
		case 4, 5:
			options[i] = "fill=" + g.one("1s", "2m", "3h", "4d", "5w", "1w2d3h4m5s", "1d1d", "1", "s", "1y",
				"99999999w", "007s")
		case 6:
			options[i] = "max=" + g.one("1", "03", "25", "32767", "0", "32768", "99999999999999999999", "-1", "1.5",
				"1e3")
		case 7:
			options[i] = "queue=" + g.one("q", "a:b-c_D9", "a/b", "a.b", "", strings.Repeat("q", 129))
		case 8, 9:
			options[i] = "jobKey=" + g.one("k", "a%20b+c", "100%", "%zz", "%c3%a4", "%0A", "%00", "", "a=b", "\u00fc",
				"%E2%80%A8")
		case 10:
			options[i] = "jobKeyMode=" + g.one("replace", "preserve_run_at", "unsafe_dedupe", "")
		default:
			options[i] = "priority=" + g.one("0", "-0", "-7", "12", "32767", g.one("-32769", "+1", "1.0", "5"))
		}
	}
	return strings.Join(options, g.one("&", "&", "&&"))
}

// payload returns an object for the end of a line.
func (g generator) payload() string {
	text := g.object(3)
	for g.IntN(2) == 0 {
		text = "{" + g.broken(text[1:], " 01.eE+-x_$abuIN{}[]:,'\"\\/*\t\u00e9\u00a0\ufeff\u200c\x01\U0001F600")
	}
	return text
}

func (g generator) object(depth int) string {
	var b strings.Builder
	b.WriteString("{")
	for i := range g.IntN(4) {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(g.gap() + g.key() + g.gap() + ":" + g.gap() + g.value(depth-1) + g.gap())
	}
	return b.String() + g.one("", "", "", ",") + g.gap() + "}"
}

func (g generator) gap() string {
	return g.one("", "", "", "", " ", "\t", "/**/", "/* } * ' / */", "/***/", "\u00a0", "\ufeff", "\u3000", "\f", "\v")
}

func (g generator) key() string {
	return g.one("a", "b", "$", "_1", "true", "null", "NaN", "Infinity", "__proto__", "\u00e9", `\u0061`, `a\u0062c`,
		`\u00e9`, `\u0031`,
		`x\u0020`, `"k"`, `'k'`, `"\x41"`, `""`, "a-b", "1", "\u2167", "a\u0301", "a\u200c", "\U0001D4B3", "\u4e2d",
		"\u0e33", "constructor")
}

func (g generator) value(depth int) string {
	if depth > 0 && g.IntN(3) == 0 {
		if g.IntN(2) == 0 {
			return g.object(depth)
		}
		items := make([]string, g.IntN(3))
		for i := range items {
			items[i] = g.gap() + g.value(depth-1) + g.gap()
		}
		return "[" + strings.Join(items, ",") + g.one("", "", ",") + "]"
	}
	switch g.IntN(3) {
	case 0:
		return g.one("true", "false", "null", "undefined", "NaN", "Infinity", "-Infinity", "+Infinity", "-NaN", "nul",
			"tru", "x", "")
	case 1:
		return g.one("0", "-0", "1", "+1", "-1", ".5", "5.", "5.e1", "1e3", "1E-7", "1e400", "-1e400", "1e-400", "0x1F",
			"0XfF", "-0x1", "0xFFFFFFFFFFFFFFFFFF", "9007199254740993", "123456789012345678901234567890", "01", "1_0",
			"0x", "1e", "1e+", ".", "+", "- 1",
			"00", "0.1e1", "1.2.3", "0b1", "0.000001", "0.0000001", "1e21", "1e20", "4.35", "5e-324")
	}
	quote := g.one("'", `"`)
	parts := make([]string, g.IntN(4))
	for i := range parts {
		parts[i] = g.one("a", "\u00e9", "\U0001F600", `\n`, `\\`, `\'`, `\"`, `\x41`, `\v`, `\0`, `\d`, `\/`, `\u0041`,
			`\ud83d\ude00`, `\ud83d`,
			`\ude00`, "\t", "//", "/*", "<&>", `\1`, `\01`, `\xg`, `\u12`, `\`, "\u00a0", "\x7f", `\u2028`, `\é`, `\😀`,
			"{", "}")
	}
	return quote + strings.Join(parts, "") + quote
}

// broken returns text with a random character of characters inserted, or replacing another one, or with a character removed.
func (g generator) broken(text, characters string) string {
	letters := []rune(text)
	if len(letters) == 0 {
		return text
	}
	at := g.IntN(len(letters))
	put := []rune(characters)[g.IntN(len([]rune(characters)))]
	switch g.IntN(3) {
	case 0:
		return string(letters[:at]) + string(letters[at+1:])
	case 1:
		return string(letters[:at]) + string(put) + string(letters[at+1:])
	}
	return string(letters[:at]) + string(put) + string(letters[at:])
}
